package dev.perdure.torture.fault;

import dev.perdure.torture.setup.FaultyProxy;
import dev.perdure.torture.setup.Site;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** What is done to connections. */
final class NetworkFaults {
    private static final Duration A_WHILE = Duration.ofSeconds(4);

    private NetworkFaults() {}

    static void cut(Site site, Random chance) {
        site.proxy().cutting(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        site.proxy().cutting(false);
    }

    static void silence(Site site, Random chance) {
        site.proxy().silent(true);
        LockSupport.parkNanos(A_WHILE.toNanos());
        site.proxy().silent(false);
    }

    static void freeze(Site site, Random chance) {
        hold(site, 1, A_WHILE.multipliedBy(3));
    }

    static void delay(Site site, Random chance) {
        hold(site, 4, A_WHILE.multipliedBy(2));
    }

    private static void hold(Site site, int oneIn, Duration length) {
        FaultyProxy.Held held = site.proxy().hold(oneIn);
        LockSupport.parkNanos(length.toNanos());
        held.close();
    }
}
