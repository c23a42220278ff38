package dev.perdure.benchmarks.raw;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.BenchDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ways to remove old rows, on the database alone, for the decision about retention: small batches of deletes, partitions
 * that are dropped, and partitions that are detached concurrently and then dropped.
 *
 * <p>How it works: clients insert runs of twelve rows under one key each, which rises as the keys of runs do. Rows that
 * are older than a period of 15 s are removed meanwhile. Every second a reader keeps a transaction open for another
 * second, as a report or a dump does. What counts is the rate of the inserts, the longest of them, and the size at the
 * end.
 */
public final class RawRemoval {
    private static final byte[] PAYLOAD = "{\"amount\":4200,\"currency\":\"EUR\"}".getBytes(StandardCharsets.UTF_8);
    private static final int CLIENTS = 8;
    private static final int ROWS = 12;

    /** A partition has the rows of a sixth of a period, and a reader reads for a fifteenth of it. */
    private static final int PARTITIONS_IN_A_PERIOD = 6;

    private static final int READERS_IN_A_PERIOD = 15;

    private static final String INSERT =
            "INSERT INTO entry SELECT ?, g, ? FROM generate_series(1, %d) AS g".formatted(ROWS);

    private final Task task;
    private final BenchDatabase database;
    private final Duration period;
    private final AtomicLong keys = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();

    private RawRemoval(Task task) {
        this.task = task;
        this.database = task.database();
        this.period = task.scale().choose(Duration.ofSeconds(15), Duration.ofSeconds(3), Duration.ofMillis(300));
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        RawRemoval removal = new RawRemoval(task);
        double rate = removal.measure("removal.none", "", before -> {});
        removal.deletes();
        long width = Math.max(1, (long) (rate * removal.period.toMillis() / 1_000 / PARTITIONS_IN_A_PERIOD));
        removal.partitions("removal.drop", width, false);
        removal.partitions("removal.detach", width, true);
    }

    /** Removes what is older than a key. */
    @FunctionalInterface
    private interface Way {
        void remove(long before) throws SQLException;
    }

    private void deletes() throws Exception {
        try (Connection connection = database.connect();
                PreparedStatement delete =
                        connection.prepareStatement("DELETE FROM entry WHERE key >= ? AND key < ?")) {
            Batches batches = new Batches(delete, keys.get());
            measure("removal.delete", "", batches::remove);
        }
    }

    /** Batches that aim at 50 ms, each followed by a rest of the same length, as those of the store. */
    private static final class Batches {
        private static final long AIM = Duration.ofMillis(50).toNanos();

        private final PreparedStatement delete;
        private long removedTo;
        private long size = 100;

        Batches(PreparedStatement delete, long first) {
            this.delete = delete;
            this.removedTo = first;
        }

        void remove(long before) throws SQLException {
            long to = Math.min(before, removedTo + size);
            if (to <= removedTo) {
                return;
            }
            long began = System.nanoTime();
            delete.setLong(1, removedTo);
            delete.setLong(2, to);
            delete.execute();
            long took = System.nanoTime() - began;
            removedTo = to;
            size = took > AIM ? Math.max(1, size / 2) : size + size / 4;
            rest(Duration.ofNanos(took));
        }
    }

    private void partitions(String metric, long width, boolean concurrently) throws Exception {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            Partitions partitions = new Partitions(statement, width, keys, concurrently);
            measure(metric, " PARTITION BY RANGE (key)", partitions::remove);
        }
    }

    /** Partitions by ranges of keys. Some are made before the first key that they are for. */
    private static final class Partitions {
        private static final int AHEAD = PARTITIONS_IN_A_PERIOD;

        private final Statement statement;
        private final long width;
        private final AtomicLong keys;
        private final boolean concurrently;
        private long first;
        private long next;

        Partitions(Statement statement, long width, AtomicLong keys, boolean concurrently) {
            this.statement = statement;
            this.width = width;
            this.keys = keys;
            this.concurrently = concurrently;
            this.first = keys.get() / width;
            this.next = first;
        }

        void remove(long before) throws SQLException {
            while (next < keys.get() / width + AHEAD) {
                // Made apart and then attached, which needs no exclusive lock on the whole table.
                statement.execute("CREATE TABLE entry_%1$d (LIKE entry INCLUDING ALL)".formatted(next));
                statement.execute("ALTER TABLE entry ATTACH PARTITION entry_%1$d FOR VALUES FROM (%2$d) TO (%3$d)"
                        .formatted(next, next * width, (next + 1) * width));
                next++;
            }
            if ((first + 1) * width <= before) {
                if (concurrently) {
                    statement.execute("ALTER TABLE entry DETACH PARTITION entry_%d CONCURRENTLY".formatted(first));
                }
                statement.execute("DROP TABLE entry_%d".formatted(first));
                first++;
            }
        }
    }

    /** When a key was the last one. */
    private record Mark(long nanos, long key) {}

    private double measure(String metric, String partitioned, Way way) throws Exception {
        task.results().progress(metric);
        database.execute(
                "CREATE TABLE entry (key bigint, position integer, payload bytea NOT NULL, PRIMARY KEY (key, position))"
                        + partitioned);
        AtomicBoolean stopped = new AtomicBoolean();
        way.remove(0);
        Load load;
        try (HikariDataSource pool = database.pool(CLIENTS);
                ExecutorService threads =
                        Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            Future<?> remover = threads.submit(() -> {
                removeUntil(stopped, way);
                return null;
            });
            Future<?> reader = threads.submit(() -> {
                readUntil(stopped);
                return null;
            });
            try {
                Load.of(CLIENTS, period.plus(period), () -> insert(pool));
                longestNanos.set(0);
                Duration time =
                        task.scale().choose(Duration.ofMinutes(1), Duration.ofSeconds(6), Duration.ofMillis(50));
                load = Load.of(CLIENTS, time, () -> insert(pool));
            } finally {
                stopped.set(true);
            }
            remover.get();
            reader.get();
        }
        task.results().figure(metric + ".rate", Unit.PER_SECOND, load.perSecond());
        task.results().figure(metric + ".longest", Unit.MILLISECONDS, longestNanos.get() / 1e6);
        task.results().figure(metric + ".size", Unit.BYTES, database.number("""
                SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relname ~ '^entry(_[0-9]+)?$'"""));
        database.execute("DROP TABLE entry");
        return load.perSecond();
    }

    private void insert(HikariDataSource pool) throws SQLException {
        long began = System.nanoTime();
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setLong(1, keys.getAndIncrement());
            insert.setBytes(2, PAYLOAD);
            insert.execute();
        }
        longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
    }

    private void removeUntil(AtomicBoolean stopped, Way way) throws SQLException {
        Deque<Mark> marks = new ArrayDeque<>();
        long before = keys.get();
        while (!stopped.get()) {
            marks.add(new Mark(System.nanoTime(), keys.get()));
            while (System.nanoTime() - marks.getFirst().nanos() > period.toNanos()) {
                before = marks.removeFirst().key();
            }
            way.remove(before);
            rest(Duration.ofMillis(5));
        }
    }

    private void readUntil(AtomicBoolean stopped) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            while (!stopped.get()) {
                statement.execute("SELECT FROM entry LIMIT 1");
                restUntil(stopped);
                connection.rollback();
                restUntil(stopped);
            }
        }
    }

    private void restUntil(AtomicBoolean stopped) {
        long end = System.nanoTime() + period.toNanos() / READERS_IN_A_PERIOD;
        while (!stopped.get() && System.nanoTime() < end) {
            rest(Duration.ofMillis(5));
        }
    }

    private static void rest(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            throw new IllegalStateException("The measurement was interrupted.", e);
        }
    }
}
