package dev.perdure.spring.boot;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Restarts two processes of an application one after the other, as a deploy does, while callers start runs. */
final class RollingRestartIT {
    private static final int CALLERS = 16;
    private static final int RUNS_BETWEEN = 60;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final SharedPostgres.Fresh database = SharedPostgres.database("rolling");
    private final JdbcTemplate jdbc = new JdbcTemplate(database.dataSource());
    private final List<Process> processes = new ArrayList<>();
    private final List<Long> drainMillis = new ArrayList<>();
    private final List<Long> underWay = new ArrayList<>();

    private Process start() throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RollingApplication.class.getName(),
                        "--spring.main.banner-mode=off",
                        "--spring.main.keep-alive=true",
                        "--perdure.worker.close-timeout=5s",
                        "--spring.datasource.url=" + database.jdbcUrl(),
                        "--spring.datasource.username=" + database.user(),
                        "--spring.datasource.password=" + database.password())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.add(process);
        return process;
    }

    private static void awaitReady(Process process) throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        for (String line = output.readLine(); !"ready".equals(line); line = output.readLine()) {
            assertThat(line).as("the application ended before it was ready").isNotNull();
        }
    }

    /** Sends SIGTERM and waits for the end. */
    private void stop(Process process) throws InterruptedException {
        underWay.add(count("SELECT count(*) FROM attempt WHERE NOT ended AND process = " + process.pid()));
        long begun = System.nanoTime();
        process.destroy();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        drainMillis.add((System.nanoTime() - begun) / 1_000_000);
    }

    /** Callers that start a run, wait for its result and start the next. */
    private final class Load implements AutoCloseable {
        private final Perdure perdure;
        private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        private final List<Future<?>> calls = new ArrayList<>();
        private final AtomicInteger started = new AtomicInteger();
        private final Semaphore ended = new Semaphore(0);
        private final ConcurrentLinkedQueue<Long> millis = new ConcurrentLinkedQueue<>();
        private volatile boolean enough;

        Load(Perdure perdure) {
            this.perdure = perdure;
            for (int i = 0; i < CALLERS; i++) {
                calls.add(callers.submit(this::call));
            }
        }

        private void call() {
            while (!enough) {
                String name = "job-" + started.incrementAndGet();
                long begun = System.nanoTime();
                int result = perdure.start(Invocation.of("job", name, TypeRef.of(Integer.class)), id(name))
                        .result(PATIENCE);
                assertThat(result).isEqualTo(RollingApplication.STEPS);
                millis.add((System.nanoTime() - begun) / 1_000_000);
                ended.release();
            }
        }

        void awaitMore() throws InterruptedException {
            assertThat(ended.tryAcquire(RUNS_BETWEEN, 60, TimeUnit.SECONDS)).isTrue();
        }

        /** Waits for the runs that have been started. */
        void finish() throws Exception {
            enough = true;
            for (Future<?> call : calls) {
                call.get(90, TimeUnit.SECONDS);
            }
        }

        @Override
        public void close() {
            enough = true;
            callers.close();
        }
    }

    @Test
    @Tag("thorough") // four JVMs; EngineTest shows in verify that a stop waits for a running step
    void a_rolling_restart_loses_nothing_and_interrupts_no_step() throws Exception {
        jdbc.execute(
                "CREATE TABLE attempt (job text, step int, process bigint, ended boolean NOT NULL DEFAULT false, begun timestamptz DEFAULT now())");
        try (database;
                PostgresStore store = PostgresStore.on(database.dataSource()).open();
                Perdure client = Perdure.on(store).client()) {
            Process first = start();
            Process second = start();
            awaitReady(first);
            awaitReady(second);
            try (Load load = new Load(client)) {
                load.awaitMore();
                stop(first);
                awaitReady(start());
                load.awaitMore();
                stop(second);
                awaitReady(start());
                load.awaitMore();
                load.finish();
                report(load);
                assertThat(count("SELECT count(*) FROM attempt WHERE NOT ended"))
                        .isZero();
                assertThat(count("SELECT count(DISTINCT (job, step)) FROM attempt"))
                        .isEqualTo((long) load.started.get() * RollingApplication.STEPS);
                assertThat(count("SELECT count(*) FROM attempt"))
                        .isEqualTo((long) load.started.get() * RollingApplication.STEPS);
                assertThat(underWay).anyMatch(steps -> steps > 0);
                assertThat(count("SELECT count(*) FROM perdure.runs WHERE state <> 'COMPLETED' AND definition = 'job'"))
                        .isZero();
            }
            for (Process left : processes) {
                left.destroy();
                assertThat(left.waitFor(30, TimeUnit.SECONDS)).isTrue();
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    private long count(String query) {
        return jdbc.queryForObject(query, Long.class);
    }

    private void report(Load load) {
        List<Long> sorted = load.millis.stream().sorted().toList();
        System.out.printf(
                "rolling restart: %d runs of %d steps, %d callers; stopped with %s steps under way, drained in %s ms; a run took %d ms (median), %d ms (longest); steps begun %d, ended %d%n",
                load.started.get(),
                RollingApplication.STEPS,
                CALLERS,
                underWay,
                drainMillis,
                sorted.get(sorted.size() / 2),
                sorted.getLast(),
                count("SELECT count(*) FROM attempt"),
                count("SELECT count(*) FROM attempt WHERE ended"));
    }
}
