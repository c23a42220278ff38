package dev.perdure.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.Reports;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SessionReportsTest {
    /** Keeps the batches that it gets. */
    private static final class Batches implements Reports {
        private final BlockingQueue<List<Report>> batches = new LinkedBlockingQueue<>();
        private final AtomicInteger failures = new AtomicInteger();

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
    private final SessionReports reports =
            new SessionReports(store, new SystemClockwork(), new WorkerId(UUID.randomUUID()), () -> true);

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
    void a_report_stays_until_the_store_is_back_unless_a_newer_one_comes() throws Exception {
        store.failures.set(2);
        reports.write(List.of(report(1, 1)));
        reports.add(report(1, 2));

        assertThat(store.next()).containsExactly("2 of 1");
    }
}
