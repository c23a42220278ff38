package dev.perdure.cli;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures what sleeping workflows cost. */
@Command(
        name = "sleepers",
        mixinStandardHelpOptions = true,
        description =
                "Measure what sleeping workflows cost: threads, heap, connections, disk, queries of an idle worker, "
                        + "and how fast another workflow runs meanwhile. On an embedded PostgreSQL.")
final class SleepersCommand implements Callable<Integer> {
    private static final int BATCH = 5_000;
    private static final int PROBES = 500;
    private static final Duration IDLE = Duration.ofSeconds(15);
    /** An idle connection of PostgreSQL reports its counters to the statistics only after ten seconds. */
    private static final Duration STATISTICS_LAG = Duration.ofSeconds(12);

    private static final String TRANSACTIONS =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    private static final String CONNECTIONS =
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    private static final String AUTOVACUUMS =
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'";

    private static final Definition<Integer, @Nullable Void> SLEEPER =
            Definition.of("sleeper", Integer.class, (ctx, days) -> ctx.sleep(Duration.ofDays(days)));
    private static final Definition<Integer, Integer> ONE_STEP =
            Definition.of("one-step", Integer.class, Integer.class, (ctx, in) -> ctx.step("same", () -> in));

    private static final Fields<Measured> MEASURED = Fields.<Measured>of()
            .and("name", Measured::name)
            .and("value", Measured::value)
            .and("unit", Measured::unit);

    private record Measured(String name, Number value, String unit) {}

    @Mixin
    private Output output = new Output();

    @Option(
            names = "--count",
            defaultValue = "1000",
            description = "The number of sleeping workflows. Default: ${DEFAULT-VALUE}.")
    private int count;

    SleepersCommand() {}

    @Override
    public Integer call() throws Exception {
        List<Measured> measured = new ArrayList<>();
        try (EmbeddedPostgres postgres =
                        EmbeddedPostgres.start(EmbeddedPostgres.options().setting("shared_buffers", "512MB"));
                Connection observer = postgres.dataSource().getConnection();
                // Without a pool, which would add its own queries to check that connections are alive.
                PostgresStore store = PostgresStore.on(postgres.dataSource()).open();
                Perdure worker = Perdure.on(store).register(SLEEPER, ONE_STEP).start()) {
            measure(measured, worker, observer);
        }
        return output.print(new Page(Instant.now()).many("measured", MEASURED, measured, ""));
    }

    private void measure(List<Measured> out, Perdure worker, Connection observer) throws Exception {
        medianMicros(worker);
        long before = medianMicros(worker);
        start(worker, observer, BATCH, 0);
        long heapBefore = heap();
        int threadsBefore = threads();
        long diskBefore = number(observer, "SELECT pg_database_size(current_database())");
        long began = System.nanoTime();
        start(worker, observer, count, BATCH);
        double seconds = (System.nanoTime() - began) / 1e9;
        print(out, "sleepers", count, "");
        print(out, "start_rate", Math.round(count / seconds), "/s, until suspended");
        print(out, "threads", Math.max(0, threads() - threadsBefore), "more than before");
        print(out, "heap_per_sleeper", Math.max(0, heap() - heapBefore) / count, "bytes");
        print(out, "connections", number(observer, CONNECTIONS), "in total, with the one that listens");
        long disk = number(observer, "SELECT pg_database_size(current_database())") - diskBefore;
        print(out, "disk_per_sleeper", disk / count, "bytes");
        print(out, "idle_queries", Math.round(idleQueries(observer) * 100) / 100.0, "/s, by an idle worker");
        long after = medianMicros(worker);
        print(out, "one_step.before", before, "microseconds, median, in the empty database");
        print(out, "one_step.after", after, "microseconds, median, with the sleepers");
    }

    private static void print(List<Measured> out, String name, Number value, String unit) {
        out.add(new Measured(name, value, unit));
    }

    private static void start(Perdure worker, Connection observer, int count, int already) throws Exception {
        for (int started = 0; started < count; started += BATCH) {
            int some = Math.min(BATCH, count - started);
            worker.startAll(
                    Collections.nCopies(some, 30),
                    days -> Invocation.of(SLEEPER, days),
                    days -> StartOptions.defaults());
        }
        while (number(observer, "SELECT count(*) FROM perdure.timer") < (long) count + already) {
            Thread.sleep(Duration.ofMillis(50));
        }
    }

    private static long medianMicros(Perdure worker) {
        long[] micros = new long[PROBES];
        for (int i = 0; i < PROBES; i++) {
            long began = System.nanoTime();
            worker.start(Invocation.of(ONE_STEP, i)).result();
            micros[i] = (System.nanoTime() - began) / 1_000;
        }
        Arrays.sort(micros);
        return micros[PROBES / 2];
    }

    /**
     * The transactions per second of an idle worker: those of the database, without the query that asks for them. The
     * median of three periods, because other connections may report the starts late.
     */
    private static double idleQueries(Connection observer) throws Exception {
        stopAutovacuum(observer);
        Thread.sleep(STATISTICS_LAG);
        double[] rates = new double[3];
        for (int i = 0; i < rates.length; i++) {
            long before = number(observer, TRANSACTIONS);
            Thread.sleep(IDLE);
            rates[i] = (number(observer, TRANSACTIONS) - before - 1) / (double) IDLE.toSeconds();
        }
        Arrays.sort(rates);
        return rates[1];
    }

    /** Stops autovacuum, whose transactions would count as the worker's. */
    private static void stopAutovacuum(Connection observer) throws Exception {
        try (Statement statement = observer.createStatement()) {
            statement.execute("ALTER SYSTEM SET autovacuum = off");
            statement.execute("SELECT pg_reload_conf()");
        }
        while (number(observer, AUTOVACUUMS) > 0) {
            Thread.sleep(Duration.ofMillis(50));
        }
    }

    private static long number(Connection observer, String sql) throws SQLException {
        try (Statement statement = observer.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long heap() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(Duration.ofMillis(200));
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
