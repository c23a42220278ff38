package dev.perdure.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.internal.schedule.ScheduleCommand.Kind;
import dev.perdure.internal.schedule.ScheduleSpec.Bounds;
import dev.perdure.internal.schedule.ScheduleSpec.Options;
import dev.perdure.internal.schedule.ScheduleSpec.Policies;
import dev.perdure.internal.schedule.ScheduleSpec.Rule;
import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleSpec.Target;
import dev.perdure.internal.schedule.ScheduleTurn.Decision;
import dev.perdure.internal.schedule.ScheduleTurn.Letter;
import dev.perdure.internal.schedule.ScheduleTurn.News;
import dev.perdure.internal.schedule.ScheduleTurn.Told;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ScheduleTurnTest {
    private static final Instant NOON = Instant.parse("2030-01-01T12:00:00Z");
    private static final Duration HOUR = Duration.ofHours(1);

    private final FireTimes times = new FireTimes();

    private static ScheduleSpec hourly(String zone, Duration within) {
        return new ScheduleSpec(
                new Target("report", false, ""),
                List.of(new Rule(RuleKind.CRON, "0 * * * *", zone, null, null)),
                List.of(),
                new Bounds(null, null, 0, Duration.ZERO),
                new Policies(Overlap.ALLOW, CatchUp.Kind.ALL, within, 0, null),
                new Options("default", 5, null, null, null, null, 1, Map.of(), null, null));
    }

    private Decision turn(ScheduleState state, Instant now, ScheduleCommand... commands) {
        List<Letter> letters = IntStream.range(0, commands.length)
                .mapToObj(each -> new Letter(each + 1, now, new Told(commands[each])))
                .toList();
        return ScheduleTurn.decide("hourly", times, state, new News(now, letters, commands.length));
    }

    @Test
    void fire_times_that_cannot_be_computed_pause_the_schedule_until_it_is_changed() {
        ScheduleSpec good = hourly("UTC", HOUR);
        for (ScheduleSpec bad :
                List.of(hourly("Mars/Olympus", HOUR), hourly("UTC", Duration.ofSeconds(Long.MAX_VALUE)))) {
            ScheduleState made = turn(ScheduleState.NOTHING, NOON, ScheduleCommand.of(Kind.PUT, bad))
                    .state();
            Decision failed = turn(made, NOON.plus(HOUR));
            assertThat(failed.state().paused())
                    .startsWith("Paused by itself: the fire times cannot be computed (java.")
                    .endsWith("). Put that right, or put another schedule under this name, then resume it.");
            assertThat(failed.starts()).isEmpty();

            Decision resumed = turn(failed.state(), NOON.plus(HOUR), ScheduleCommand.of(Kind.RESUME));
            if (!resumed.state().progress().upcoming().isEmpty()) {
                resumed = turn(resumed.state(), NOON.plus(HOUR.multipliedBy(2)));
            }
            assertThat(resumed.state().paused()).as("it is not mended").isNotNull();

            Decision mended = turn(
                    resumed.state(),
                    NOON.plus(HOUR.multipliedBy(3)),
                    ScheduleCommand.of(Kind.PUT, good),
                    ScheduleCommand.of(Kind.RESUME));
            assertThat(mended.state().paused()).isNull();
            assertThat(mended.trouble()).isNull();
            assertThat(turn(mended.state(), NOON.plus(HOUR.multipliedBy(4))).starts())
                    .extracting(ScheduleTurn.Start::run)
                    .containsExactly("hourly@2030-01-01T16:00:00Z");
        }
    }
}
