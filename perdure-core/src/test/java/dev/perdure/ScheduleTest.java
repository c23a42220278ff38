package dev.perdure;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.Instant;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
                () -> Times.every(Duration.ofMillis(1)),
                "The period of a schedule is PT0.001S; it is at least PT0.1S and at most 36500 days.");
        refused(Times::at, "The list of instants is empty or has a null. Give one instant or more.");
    }
}
