package dev.perdure.torture.fault;

import dev.perdure.torture.setup.FaultyProxy;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** What is done to connections. */
final class NetworkFaults {
    private static final Duration A_WHILE = Duration.ofSeconds(4);

    private NetworkFaults() {}

    static String cut(Target target, Random chance) throws NoEffectException {
        FaultyProxy proxy = target.site().proxy();
        int before = proxy.cuts();
        proxy.cutting(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        proxy.cutting(false);
        return some(proxy.cuts() - before, "answers lost");
    }

    static String silence(Target target, Random chance) throws NoEffectException {
        FaultyProxy proxy = target.site().proxy();
        long before = proxy.silenced();
        proxy.silent(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        proxy.silent(false);
        return some(proxy.silenced() - before, "notifications lost");
    }

    static String freeze(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().hold(1), A_WHILE.multipliedBy(3), "connections held");
    }

    static String delay(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().hold(4), A_WHILE.multipliedBy(2), "connections held");
    }

    static String deafen(Target target, Random chance) throws NoEffectException {
        return hold(target.site().proxy().holdListening(), A_WHILE.multipliedBy(3), "listening connections held");
    }

    private static String hold(FaultyProxy.Held held, Duration length, String what) throws NoEffectException {
        LockSupport.parkNanos(length.toNanos());
        held.close();
        return some(held.size(), what);
    }

    private static String some(long count, String what) throws NoEffectException {
        if (count == 0) {
            throw new NoEffectException("no " + what);
        }
        return count + " " + what;
    }
}
