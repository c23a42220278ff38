package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.ShiftedClock;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.WorkerProcess;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What is done to worker processes. */
final class ProcessFaults {
    private static final Duration TO_JOIN = Duration.ofMinutes(1);
    /** Other faults may keep all from the server for some time. */
    private static final Duration MOST_TO_TAKE_OVER = Duration.ofMinutes(1);

    private static final Duration BESIDE = Duration.ofSeconds(8);
    private static final Duration OFF = Duration.ofHours(1);
    private static final Duration TOLERANCE = Duration.ofMinutes(1);

    private static final String HELD_BY = """
            SELECT count(*) FROM perdure.held JOIN perdure.worker ON number = worker WHERE labels ->> 'process' = ?
            """;

    private ProcessFaults() {}

    static String kill(Target target, Random chance) throws Exception {
        Site site = target.site();
        WorkerProcess worker = site.workers().at(chance.nextInt(site.workers().count()));
        worker.kill();
        long killed = System.nanoTime();
        try {
            long held = held(site, worker.pid());
            while (held(site, worker.pid()) > 0) {
                if (System.nanoTime() - killed > MOST_TO_TAKE_OVER.toNanos()) {
                    throw new IllegalStateException(
                            "Nobody has the runs of process %d within %s.".formatted(worker.pid(), MOST_TO_TAKE_OVER));
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
            Duration taken = Duration.ofNanos(System.nanoTime() - killed);
            return "process %d, which held %d runs: all taken over after %,d ms"
                    .formatted(worker.pid(), held, taken.toMillis());
        } catch (SQLException another) {
            return "process %d".formatted(worker.pid()); // the server is away: another fault
        }
    }

    static long held(Site site, long pid) throws SQLException {
        Address address = site.direct();
        try (Connection connection =
                        DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                PreparedStatement select = connection.prepareStatement(HELD_BY)) {
            select.setString(1, Long.toString(pid));
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    static String stop(Target target, Random chance) throws Exception {
        Site site = target.site();
        WorkerProcess worker = site.workers().at(chance.nextInt(site.workers().count()));
        Instant begun = Instant.now();
        if (!worker.signal("STOP")) {
            throw new NoEffectException("another fault has killed process " + worker.pid());
        }
        try {
            LockSupport.parkNanos(Site.LEASE.multipliedBy(3).toNanos());
        } finally {
            worker.signal("CONT");
            site.absent(worker.pid(), begun);
        }
        return "process " + worker.pid();
    }

    static String deploy(Target target, Random chance) throws Exception {
        int joined = 0;
        for (int place = 0; place < target.site().workers().count(); place++) {
            WorkerProcess old = target.site().workers().at(place);
            old.end();
            if (target.site().workers().awaitReplaced(place, old, TO_JOIN)) {
                joined++;
            }
        }
        if (joined == 0) {
            throw new NoEffectException("no replacement has joined within " + TO_JOIN);
        }
        return joined + " replacements have joined";
    }

    static String clock(Target target, Random chance) throws Exception {
        Site site = target.site();
        try (WorkerProcess ahead = site.workers().beside(ShiftedClock.option(OFF), List.of());
                WorkerProcess behind = site.workers().beside(ShiftedClock.option(OFF.negated()), List.of())) {
            Duration first = off(ahead);
            Duration second = off(behind);
            LockSupport.parkNanos(BESIDE.toNanos());
            long bodies = bodies(target, ahead) + bodies(target, behind);
            boolean isOff = first.compareTo(OFF.minus(TOLERANCE)) > 0
                    && second.compareTo(OFF.negated().plus(TOLERANCE)) < 0;
            if (!isOff || bodies == 0) {
                throw new NoEffectException(
                        "clocks are off by %s and %s, and %d bodies ran there".formatted(first, second, bodies));
            }
            ahead.end();
            behind.kill();
            return "%d bodies ran by clocks that are off by %d s and %d s"
                    .formatted(bodies, first.toSeconds(), second.toSeconds());
        } catch (IOException ended) {
            throw new NoEffectException("a worker ended while it joined: " + ended.getMessage());
        }
    }

    private static Duration off(WorkerProcess worker) throws IOException {
        return Duration.between(Instant.now(), Instant.parse(worker.ask("clock")));
    }

    private static long bodies(Target target, WorkerProcess worker) throws SQLException {
        return target.parts().ledger().lines().stream()
                .map(Line::pid)
                .filter(pid -> pid == worker.pid())
                .count();
    }
}
