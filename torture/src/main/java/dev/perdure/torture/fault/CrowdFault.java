package dev.perdure.torture.fault;

import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Crowd;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * A worker dies with very many runs in its memory, and three others go on, each with a small heap and with room for far
 * fewer. In a queue of their own, so that no other worker helps. Runs of the dead worker that sleep stay as they are.
 */
final class CrowdFault {
    private static final int AT_ONCE = 1_000;
    private static final int SUCCESSORS = 3;
    private static final int SLEEPERS = 100;
    /** Whatever else happens. Alone it is a lease and a little more. */
    private static final Duration MOST_TO_FIRST = Duration.ofMinutes(1);

    private static final int SMALL_HEAP = 192;
    /**
     * With the lease of the others it would lose its runs again and again before it has all: claims, and collections of
     * a large heap, may take two seconds. Its death shows by its connection, not by the end of its lease.
     */
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    private static final String UNFINISHED = "SELECT count(*) FROM perdure.run WHERE queue = ? AND state < 6";
    /** What changes if a worker takes one of them: each has left the memory of its worker, and has so many epochs. */
    private static final String ASLEEP = """
            SELECT CASE WHEN count(*) FILTER (WHERE owner IS NULL) = %d THEN sum(epoch + changes + recoveries) ELSE -1 END
            FROM perdure.run WHERE queue = ? AND starts_with(id, queue || '-sleeper-')
            """.formatted(SLEEPERS);

    private CrowdFault() {}

    static String crowd(Target target, Random chance) throws Exception {
        OpenFault.JUDGED_BY_TIME.lock();
        try {
            return new Crowded(target, "crowd-" + UUID.randomUUID()).strike();
        } finally {
            OpenFault.JUDGED_BY_TIME.unlock();
        }
    }

    private record Crowded(Target target, String queue) {
        String strike() throws Exception {
            List<WorkerProcess> successors = new ArrayList<>();
            try (WorkerProcess first = RunFaults.joined(target, List.of(heap()), arguments())) {
                List<Run<Integer>> sleepers = start("-sleeper-", -SLEEPERS, 0);
                for (int from = 0; from < target.crowd(); from += AT_ONCE) {
                    start("-", from, Math.min(from + AT_ONCE, target.crowd()));
                }
                RunFaults.until("the worker has all of the crowd", () -> held(first) == target.crowd());
                RunFaults.until("the sleepers have left it", () -> number(ASLEEP) > 0);
                long asleep = number(ASLEEP);
                for (int i = 0; i < SUCCESSORS; i++) {
                    successors.add(RunFaults.joined(target, List.of(), List.of("queue=" + queue)));
                }
                first.kill();
                Instant killed = target.parts().ledger().now();
                RunFaults.until("all of the crowd have ended", BETWEEN_LOOKS, () -> number(UNFINISHED) == SLEEPERS);
                if (number(ASLEEP) != asleep) {
                    throw new IllegalStateException("A worker has touched the sleepers of a dead one.");
                }
                for (Run<Integer> sleeper : sleepers) {
                    RunFaults.until("the sleeper is cancelled", () -> {
                        sleeper.cancel("Nobody waits for it.");
                        return true;
                    });
                }
                RunFaults.until("the sleepers have ended", () -> number(UNFINISHED) == 0);
                if (!successors.stream().allMatch(WorkerProcess::isAlive)) {
                    throw new IllegalStateException("A worker that took over a part of the crowd has ended.");
                }
                return seen(killed);
            } finally {
                for (WorkerProcess successor : successors) {
                    successor.end();
                }
            }
        }

        /** With 40 kB for each run that it has. */
        private String heap() {
            return "-Xmx%dm".formatted(SMALL_HEAP + target.crowd() / 25);
        }

        private List<String> arguments() {
            return List.of(
                    "queue=" + queue,
                    "holds=true",
                    "runs=" + (target.crowd() + SLEEPERS),
                    "lease=" + LONG_LEASE.toSeconds());
        }

        private List<Run<Integer>> start(String name, int from, int until) {
            List<Integer> numbers = IntStream.range(from, until).boxed().toList();
            return RunFaults.started(() -> target.client()
                    .startAll(
                            numbers,
                            number -> Invocation.of(
                                    Crowd.definition(target.parts().ledger()), number),
                            number -> StartOptions.id(queue + name + number).queue(queue)));
        }

        private long held(WorkerProcess worker) {
            try {
                return ProcessFaults.held(target.site(), worker.pid());
            } catch (SQLException away) {
                return -1; // another fault
            }
        }

        /** Asks again while another fault keeps the server away. */
        private long number(String sql) {
            AtomicLong number = new AtomicLong();
            RunFaults.until("the server answers", () -> {
                try {
                    number.set(ask(sql));
                    return true;
                } catch (SQLException away) {
                    return false;
                }
            });
            return number.get();
        }

        private long ask(String sql) throws SQLException {
            Address address = target.site().direct();
            try (Connection connection =
                            DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                    PreparedStatement select = connection.prepareStatement(sql)) {
                select.setString(1, queue);
                try (ResultSet row = select.executeQuery()) {
                    row.next();
                    return row.getLong(1);
                }
            }
        }

        private String seen(Instant killed) throws SQLException {
            List<Line> lines = target.parts().ledger().lines(queue);
            BodyShares shares = new BodyShares(lines.stream().map(Line::pid).toList());
            Duration first = Duration.between(killed, lines.getFirst().at());
            Duration last = Duration.between(killed, lines.getLast().at());
            if (!shares.areShared(SUCCESSORS) || first.compareTo(MOST_TO_FIRST) > 0) {
                throw new IllegalStateException(
                        "The runs of a dead worker were not shared, or began %,d ms after its death: %s"
                                .formatted(first.toMillis(), shares));
            }
            return "%,d runs of a dead worker ended elsewhere, the first %,d ms and the last %d s after its death; bodies by process: %s"
                    .formatted(target.crowd(), first.toMillis(), last.toSeconds(), shares);
        }
    }
}
