package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Scheduled;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ScheduleTest {
    private static final Schedule HOURLY = Schedule.of(
            "hourly", Times.every(Duration.ofHours(1)), Invocation.of("report", null, TypeRef.of(Void.class)));

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(InvalidRequestException.class).hasMessage(message);
    }

    @Test
    void options_that_a_schedule_decides_itself_are_refused() {
        refused(
                () -> HOURLY.options(StartOptions.id("mine")),
                "The schedule 'hourly' cannot be used: its options have a run id; the fire time makes the id.");
        refused(
                () -> HOURLY.options(StartOptions.after(Duration.ofSeconds(1))),
                "The schedule 'hourly' cannot be used: its options have a delay; give it other times, or a jitter.");
        refused(
                () -> HOURLY.options(StartOptions.under(StartKey.deduplicate("k"))),
                "The schedule 'hourly' cannot be used: its options have a start key; choose an overlap instead.");
        refused(
                () -> HOURLY.options(StartOptions.defaults().message(Topic.of("t", String.class), "x")),
                "The schedule 'hourly' cannot be used: its options have a message; put the value into the input.");
    }

    @Test
    void bounds_that_make_no_sense_are_refused() {
        refused(
                () -> HOURLY.from(Instant.parse("2030-01-02T00:00:00Z")).until(Instant.parse("2030-01-01T00:00:00Z")),
                "The schedule 'hourly' cannot be used: it ends at 2030-01-01T00:00:00Z and begins at 2030-01-02T00:00:00Z.");
        refused(() -> HOURLY.limit(0), "The schedule 'hourly' is to fire 0 times; it is at least 1.");
        refused(
                () -> HOURLY.jitter(Duration.ofDays(2)),
                "The jitter of the schedule 'hourly' is PT48H; it is at least zero and at most a day.");
        refused(() -> HOURLY.pauseAfter(0), "The schedule 'hourly' is to pause after 0 failures; it is at least 1.");
        refused(
                () -> CatchUp.all(Duration.ZERO),
                "The time to catch up is PT0S; it must be longer than zero. Use CatchUp.none() to catch up nothing.");
        refused(
                () -> CatchUp.all(ChronoUnit.FOREVER.getDuration()),
                "The time to catch up is PT2562047788015215H30M7.999999999S; it is at most 36500 days. Give a shorter one.");
        refused(
                () -> Times.every(Duration.ofMillis(1)),
                "The period of a schedule is PT0.001S; it is at least PT0.1S and at most 36500 days.");
        refused(Times::at, "The list of instants is empty or has a null. Give one instant or more.");
    }

    @Test
    void times_outside_of_the_years_1_to_9999_are_refused() {
        refused(
                () -> HOURLY.from(Instant.MAX),
                "The time from which it fires is +1000000000-12-31T23:59:59.999999999Z; it is in the years 1 to 9999.");
        refused(
                () -> HOURLY.from(Instant.MIN),
                "The time from which it fires is -1000000000-01-01T00:00:00Z; it is in the years 1 to 9999.");
        refused(
                () -> Times.at(Instant.EPOCH, Instant.MAX),
                "The fire time is +1000000000-12-31T23:59:59.999999999Z; it is in the years 1 to 9999.");
        assertThat(HOURLY.until(Instant.MAX).until()).hasValue(Instant.MAX);
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).client()) {
            refused(
                    () -> perdure.schedules().backfill("hourly", Instant.MIN, Instant.EPOCH, Overlap.SKIP),
                    "The beginning of the range is -1000000000-01-01T00:00:00Z; it is in the years 1 to 9999.");
            refused(
                    () -> perdure.schedules().backfill("hourly", Instant.EPOCH, Instant.MAX, Overlap.SKIP),
                    "The end of the range is +1000000000-12-31T23:59:59.999999999Z; it is in the years 1 to 9999.");
        }
    }

    /** Says when it runs, and is no workflow. */
    public static final class NoWorkflow {
        @Scheduled(cron = "0 3 * * *", zone = "UTC")
        public void cleanUp(WorkflowContext ctx) {}
    }

    /** Says when it runs, and needs an input. */
    public static final class WithInput {
        @Workflow("clean-up")
        @Scheduled(cron = "0 3 * * *", zone = "UTC")
        public void cleanUp(WorkflowContext ctx, String what) {}
    }

    /** In a zone that does not exist. */
    public static final class Nowhere {
        @Workflow("clean-up")
        @Scheduled(cron = "0 3 * * *", zone = "Atlantis")
        public void cleanUp(WorkflowContext ctx) {}
    }

    /** With an expression that nothing can read. */
    public static final class Never {
        @Workflow("clean-up")
        @Scheduled(cron = "at three", zone = "UTC")
        public void cleanUp(WorkflowContext ctx) {}
    }

    /** As it should be. */
    public static final class Nightly {
        @Workflow("clean-up")
        @Scheduled(cron = "0 3 * * *", zone = "UTC", overlap = Overlap.ALLOW)
        public void cleanUp(WorkflowContext ctx) {}
    }

    private static void start(Object registered, Schedule... schedules) {
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .register(registered)
                        .schedules(schedules)
                        .start()) {
            assertThat(perdure.schedules().list("", 10)).isEmpty();
        }
    }

    @Test
    void an_annotation_that_cannot_be_used_says_why() {
        assertThatThrownBy(() -> start(new NoWorkflow()))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "@Scheduled is on the method dev.perdure.ScheduleTest$NoWorkflow.cleanUp(WorkflowContext), which has no @Workflow. Add @Workflow with the name of the workflow.");
        assertThatThrownBy(() -> start(new WithInput()))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "@Scheduled is on the method dev.perdure.ScheduleTest$WithInput.cleanUp(WorkflowContext, String), which takes an input. Let it take only the context, or declare a Schedule with the input.");
        assertThatThrownBy(() -> start(new Nowhere()))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "@Scheduled of the method dev.perdure.ScheduleTest$Nowhere.cleanUp(WorkflowContext) names the time zone 'Atlantis', which does not exist. Write one such as Europe/Berlin or UTC.");
        assertThatThrownBy(() -> start(new Never()))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "@Scheduled of the method dev.perdure.ScheduleTest$Never.cleanUp(WorkflowContext) cannot be used. The cron expression 'at three' cannot be used: It has 2 fields. Write five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as @daily.");
    }

    @Test
    void a_name_is_declared_once() {
        Schedule same = Schedule.of(
                "clean-up", Times.every(Duration.ofHours(1)), Invocation.of("clean-up", null, TypeRef.of(Void.class)));
        assertThatThrownBy(() -> start(new Nightly(), same))
                .isInstanceOf(DefinitionException.class)
                .hasMessage("The schedule 'clean-up' is declared twice. Give one of them another name.");
    }

    @Test
    void an_annotated_workflow_is_scheduled_under_its_own_name() {
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).register(new Nightly()).start()) {
            Awaitility.await()
                    .until(() -> perdure.schedules().list("", 10).stream()
                            .map(schedule -> schedule.name() + ": " + schedule.when())
                            .toList()
                            .equals(List.of("clean-up: every day at 03:00 in UTC (cron 0 3 * * *)")));
        }
    }
}
