package dev.perdure.examples;

import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Scheduled;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;

/** Writes reports every night, and for each tenant when the tenant wants them. */
public final class Reports {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    /** Where the figures are and where reports go. */
    public interface Archive {
        /** Writes the report of a time span and returns its name. */
        String write(String about, Instant from, Instant to);

        /** Removes old reports. */
        void cleanUp();
    }

    // region schedule
    public static final Schedule NIGHTLY =
            Schedule.cron("nightly-report", "0 2 * * *", BERLIN, Reports::nightly, "all tenants");
    // endregion

    // region times
    /** On working days at nine, on Saturdays at eleven, not at Christmas. */
    public static final Times OPENING = Times.cron("0 9 * * MON-FRI", BERLIN)
            .and(Times.cron("0 11 * * SAT", BERLIN))
            .except(BERLIN, LocalDate.of(2030, 12, 25), LocalDate.of(2030, 12, 26));

    public static final Schedule OPENINGS =
            Schedule.of("opening-report", OPENING, Invocation.of(Reports::nightly, "openings"));
    // endregion

    // region policies
    public static final Schedule HOURLY = Schedule.of(
                    "hourly-report", Times.every(Duration.ofHours(1)), Invocation.of(Reports::nightly, "hour"))
            .overlap(Overlap.WAIT)
            .catchUp(CatchUp.all(Duration.ofHours(6)))
            .jitter(Duration.ofMinutes(5))
            .pauseAfter(3, Invocation.of(Reports::tell, "The hourly report has failed three times."));
    // endregion

    private final Archive archive;

    /** Reports from and into this archive. */
    public Reports(Archive archive) {
        this.archive = archive;
    }

    // region workflow
    /** Writes the report from the fire time before to this one. */
    @Workflow("report")
    public String nightly(WorkflowContext ctx, String about) {
        Fire fire = Fire.of(ctx).orElseThrow();
        Instant from = fire.previous().orElse(fire.scheduledFor().minus(Duration.ofDays(1)));
        return ctx.step("write", () -> archive.write(about, from, fire.scheduledFor()));
    }
    // endregion

    // region annotation
    @Workflow("clean-up")
    @Scheduled(cron = "30 4 * * SUN", zone = "Europe/Berlin")
    public void cleanUp(WorkflowContext ctx) {
        ctx.step("clean up", archive::cleanUp);
    }
    // endregion

    /** Tells the people who look after reports. */
    @Workflow("tell")
    public void tell(WorkflowContext ctx, String what) {
        ctx.logger().warn(what);
    }

    // region tenant
    /** Gives a tenant a report every morning, in the transaction that stores the tenant's wish. */
    public static void order(Outbox outbox, String tenant, ZoneId zone) {
        outbox.schedules().put(Schedule.cron("report-" + tenant, "0 6 * * *", zone, Reports::nightly, tenant));
    }
    // endregion

    // region operate
    /** Stops the nightly report during an audit, then writes the reports of the nights between. */
    public static RunId audit(Perdure perdure, Instant begin, Instant end) {
        perdure.schedules().pause("nightly-report", "the books are closed");
        perdure.schedules().resume("nightly-report");
        perdure.schedules().backfill("nightly-report", begin, end, Overlap.WAIT_ALL);
        return perdure.schedules().trigger("nightly-report");
    }
    // endregion

    /** Prints when the next reports are written. */
    public static void main(String[] args) throws InterruptedException {
        // region declare
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Reports(new Printing()))
                .schedules(NIGHTLY, OPENINGS, HOURLY)
                .start()) {
            // endregion
            perdure.schedules().trigger("nightly-report");
            while (perdure.schedules().list("", 10).size() < 4
                    || perdure.schedules().get("nightly-report").recent().isEmpty()) {
                Thread.sleep(10);
            }
            for (ScheduleInfo schedule : perdure.schedules().list("", 10)) {
                System.out.println(schedule.name() + " fires next at " + schedule.next());
            }
        }
    }

    private static final class Printing implements Archive {
        @Override
        public String write(String about, Instant from, Instant to) {
            return "%s from %s to %s".formatted(about, from, to);
        }

        @Override
        public void cleanUp() {
            System.out.println("cleaned up");
        }
    }
}
