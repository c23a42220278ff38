package dev.perdure.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.internal.execution.host.PendingLines;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

class SessionReportsTest {
    /** Keeps the batches that it gets. */
    private static final class Batches implements Reports {
        private final BlockingQueue<List<Report>> batches = new LinkedBlockingQueue<>();
        private final AtomicInteger failures = new AtomicInteger();
        private final BlockingQueue<Line> logged = new LinkedBlockingQueue<>();

        @Override
        public void write(WorkerId worker, List<Report> reports) {
            if (failures.getAndDecrement() > 0) {
                throw new StoreException(StoreException.Kind.UNAVAILABLE, "away", null);
            }
            batches.add(reports);
        }

        @Override
        public Optional<Reported> find(RunRef run, int position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void log(WorkerId worker, List<Line> lines) {
            logged.addAll(lines);
        }

        @Override
        public LogPage log(RunRef run, LogFilter filter) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<Reported> open(RunRef run) {
            throw new UnsupportedOperationException();
        }

        List<String> next() throws InterruptedException {
            @Nullable List<Report> batch = batches.poll(10, TimeUnit.SECONDS);
            return batch == null
                    ? List.of()
                    : batch.stream().map(Report::message).sorted().toList();
        }
    }

    private final Batches store = new Batches();
    private final Clockwork clockwork = new SystemClockwork();
    private final SessionReports reports = new SessionReports(
            store, clockwork, new StoreClock(clockwork), new WorkerId(UUID.randomUUID()), () -> true);

    /** Starts no threads. */
    private record Stopped(Clockwork system) implements Clockwork {
        @Override
        public Instant now() {
            return system.now();
        }

        @Override
        public long nanoTime() {
            return system.nanoTime();
        }

        @Override
        public long random() {
            return system.random();
        }

        @Override
        public Signal signal() {
            return system.signal();
        }

        @Override
        public void fork(String name, Runnable task) {}

        @Override
        public void loop(String name, Runnable task) {}

        @Override
        public Runnable alarm(Duration delay, Runnable task) {
            return system.alarm(delay, task);
        }
    }

    private static Reports.Report report(int position, long number) {
        Reports.Source source = new Reports.Source(new RunRef(RunId.of("a"), 1), 1, position, "import", 1);
        return new Reports.Report(
                source, Reports.version(1, number), 0.5, "%d of %d".formatted(number, position), null);
    }

    @Test
    void the_latest_report_of_each_step_is_written_in_one_batch() throws Exception {
        reports.add(report(1, 1));
        assertThat(store.next()).containsExactly("1 of 1");
        for (int number = 2; number <= 1_000; number++) {
            reports.add(report(1, number));
            reports.add(report(2, number));
        }
        reports.add(report(1, 7)); // of a thread that was held up

        assertThat(store.next()).containsExactly("1000 of 1", "1000 of 2");
        assertThat(store.batches).isEmpty();
    }

    @Test
    void an_attempt_that_ends_does_not_wait_for_the_second_to_pass() throws Exception {
        List<String> written = new ArrayList<>();
        long began = System.nanoTime();
        for (int number = 1; number <= 20; number++) {
            reports.add(report(1, number));
            reports.hurry();
            written.addAll(store.next());
        }
        assertThat(written).hasSize(20).endsWith("20 of 1");
        assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(10));
    }

    @Test
    void no_more_lines_of_a_worker_wait_than_fit_into_its_memory() throws Exception {
        SessionReports away = new SessionReports(
                store, new Stopped(clockwork), new StoreClock(clockwork), new WorkerId(UUID.randomUUID()), () -> true);
        String text = "x".repeat(16_000);
        List<PendingLines> runs = Stream.generate(PendingLines::new).limit(100).toList();
        for (PendingLines run : runs) {
            for (int line = 0; line < 20; line++) {
                away.log(
                        run, new Reports.Source(new RunRef(RunId.of("a"), 1), 1, 1, "import", 1), Level.INFO, "", text);
            }
        }
        away.write();

        long bytes = store.logged.stream().mapToLong(Reports.Line::size).sum();
        assertThat(bytes).isBetween(15L * 1024 * 1024, 17L * 1024 * 1024);
        assertThat(store.logged.stream()
                        .mapToLong(line -> line.number() & 0xFFFF)
                        .max())
                .as("also counts the lines of a run that newer ones replaced")
                .hasValue(20);
    }

    @Test
    void a_report_stays_until_the_store_is_back_unless_a_newer_one_comes() throws Exception {
        store.failures.set(2);
        reports.write(List.of(report(1, 1)));
        reports.add(report(1, 2));

        assertThat(store.next()).containsExactly("2 of 1");
    }
}
