package dev.perdure.torture.fault;

import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.work.Burst;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * A transaction that has started a run stays open for a minute, with one snapshot, so that nothing that is removed
 * meanwhile can be vacuumed. Small runs, started all the time before and beside it, tell how long a start takes until
 * its body has ended.
 *
 * <p>What the claims leave behind piles up until the transaction ends, so its last half minute is judged. Another fault
 * may hold all work up for a part of that time, and hardly for three quarters of it: one in four of the runs is as fast
 * as {@link #TIMES} times before, or as {@link #ALWAYS_ALLOWED}, which two busy processors alone may take.
 */
final class OpenFault {
    /** Two faults of which one is judged by time and the other takes all the time there is do not happen at once. */
    static final ReentrantLock JUDGED_BY_TIME = new ReentrantLock();

    private static final Duration OPEN = Duration.ofMinutes(1);
    private static final Duration BEFORE = Duration.ofSeconds(5);
    private static final Duration BETWEEN = Duration.ofMillis(250);
    private static final int TIMES = 5;
    private static final Duration ALWAYS_ALLOWED = Duration.ofMillis(500);

    private OpenFault() {}

    static String open(Target target, Random chance) throws Exception {
        JUDGED_BY_TIME.lock();
        try {
            return ServerFaults.alone(target.site(), (connection, statement) -> {
                Duration before = quick(delays(target, BEFORE));
                connection.setAutoCommit(false);
                connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ); // one snapshot
                statement.execute("SELECT perdure.start_run('steps', 'open-' || gen_random_uuid(), '0')");
                List<Duration> all = delays(target, OPEN);
                connection.commit();
                return judged(before, quick(all.subList(all.size() / 2, all.size())), all.size());
            });
        } catch (SQLException closed) {
            throw new NoEffectException("the transaction has ended before its time: " + closed.getMessage());
        } finally {
            JUDGED_BY_TIME.unlock();
        }
    }

    private static String judged(Duration before, Duration beside, int count) {
        Duration most =
                before.multipliedBy(TIMES).compareTo(ALWAYS_ALLOWED) > 0 ? before.multipliedBy(TIMES) : ALWAYS_ALLOWED;
        String seen =
                "a start committed after %d s; one in four of %d other runs needed at most %d ms at its end, and %d ms before it"
                        .formatted(OPEN.toSeconds(), count, beside.toMillis(), before.toMillis());
        if (beside.compareTo(most) > 0) {
            throw new IllegalStateException(
                    "runs wait beside an open transaction, for more than %d ms: %s".formatted(most.toMillis(), seen));
        }
        return seen;
    }

    /** Starts runs for so long, and waits for all; gives how long after its start the body of each has ended. */
    private static List<Duration> delays(Target target, Duration length) throws SQLException {
        String name = "probe-" + UUID.randomUUID();
        Map<String, Instant> sent = new HashMap<>();
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() < end) {
            String run = name + "-" + sent.size();
            sent.put(run, RunFaults.started(() -> {
                Instant now = Instant.now();
                target.client().start(Invocation.of(Burst.child(target.parts().ledger()), 0), StartOptions.id(run));
                return now;
            }));
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
        RunFaults.until("the runs beside the open transaction have ended", () -> ended(target, name) >= sent.size());
        Map<String, Instant> first = target.parts().ledger().lines(name).stream()
                .collect(Collectors.toMap(Line::run, Line::at, (one, another) -> one));
        return sent.entrySet().stream()
                .sorted(Map.Entry.comparingByValue())
                .map(each -> Duration.between(each.getValue(), first.get(each.getKey())))
                .toList();
    }

    private static long ended(Target target, String name) {
        try {
            return target.parts().ledger().lines(name).stream()
                    .map(Line::run)
                    .distinct()
                    .count();
        } catch (SQLException never) {
            throw new IllegalStateException("Nothing happens to the ledger.", never);
        }
    }

    /** So long at most do the quickest quarter of them take. */
    private static Duration quick(List<Duration> delays) {
        return delays.stream().sorted().toList().get(delays.size() / 4);
    }
}
