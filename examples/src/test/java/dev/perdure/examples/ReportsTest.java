package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReportsTest {
    /** Remembers what was written. */
    private static final class Written implements Reports.Archive {
        private final List<String> reports = new CopyOnWriteArrayList<>();
        private final AtomicInteger cleanUps = new AtomicInteger();

        @Override
        public String write(String about, Instant from, Instant to) {
            reports.add("%s: %s to %s".formatted(about, from, to));
            return about;
        }

        @Override
        public void cleanUp() {
            cleanUps.incrementAndGet();
        }
    }

    // region test
    @Test
    void a_report_is_written_every_night() {
        Written written = new Written();
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(new Reports(written)).schedules(Reports.NIGHTLY);
            perdure.settle();
            perdure.advance(Duration.ofDays(3));
            assertThat(written.reports)
                    .containsExactly(
                            "all tenants: 2029-12-31T01:00:00Z to 2030-01-01T01:00:00Z",
                            "all tenants: 2030-01-01T01:00:00Z to 2030-01-02T01:00:00Z",
                            "all tenants: 2030-01-02T01:00:00Z to 2030-01-03T01:00:00Z");
        }
    }
    // endregion

    @Test
    void an_annotated_method_runs_by_itself() {
        Written written = new Written();
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(new Reports(written));
            perdure.settle();
            assertThat(perdure.schedules().list("", 10))
                    .extracting(ScheduleInfo::name)
                    .containsExactly("clean-up");
            perdure.advance(Duration.ofDays(14));
            assertThat(written.cleanUps).hasValue(2);
        }
    }

    @Test
    void the_other_schedules_fire_at_their_times() {
        Written written = new Written();
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(new Reports(written)).schedules(Reports.OPENINGS, Reports.HOURLY);
            perdure.settle();
            perdure.advance(Duration.ofDays(7).minusHours(1));
            assertThat(written.reports)
                    .filteredOn(report -> report.startsWith("openings"))
                    .hasSize(6);
            assertThat(written.reports)
                    .filteredOn(report -> report.startsWith("hour"))
                    .hasSizeBetween(165, 167);
        }
    }

    @Test
    void the_nights_of_an_audit_are_written_afterwards() {
        Written written = new Written();
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(new Reports(written)).schedules(Reports.NIGHTLY);
            perdure.settle();
            RunId triggered = Reports.audit(
                    perdure, Instant.parse("2029-12-24T00:00:00Z"), Instant.parse("2029-12-26T23:00:00Z"));
            perdure.advance(Duration.ofMinutes(1));
            assertThat(perdure.run(triggered, TypeRef.of(String.class)).result())
                    .isEqualTo("all tenants");
            assertThat(written.reports)
                    .filteredOn(report -> report.contains("2029-12-2"))
                    .hasSize(3);
        }
    }
}
