package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownScheduleException;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Commands to schedules, what their runs get, and what happens after failures. */
abstract class ScheduleCommandScenarios extends ScheduledRuns {
    private static final Attribute<String> TEAM = Attribute.text("team");

    @ParameterizedTest
    @EnumSource
    void a_paused_schedule_skips_its_times_and_goes_on_when_it_is_resumed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(hourly(REPORT));
            perdure.settle();
            perdure.schedules().pause("hourly", "the printer is broken");
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(fired(perdure)).isEmpty();
            ScheduleInfo info = perdure.schedules().get("hourly");
            assertThat(info.status().paused()).contains("the printer is broken");
            assertThat(info.next()).isEmpty();
            perdure.schedules().resume("hourly");
            perdure.settle();
            assertThat(fired(perdure)).isEmpty();
            perdure.advance(HOUR);
            assertThat(fired(perdure)).hasSize(1);
            assertThat(perdure.schedules().get("hourly").status().paused()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_next_time_can_be_skipped(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(hourly(REPORT));
            perdure.settle();
            Instant next = perdure.schedules().get("hourly").next().getFirst();
            perdure.schedules().skipNext("hourly");
            perdure.advance(HOUR.multipliedBy(2).plus(MINUTE));
            assertThat(ids(perdure)).containsExactly(id("hourly", next.plus(HOUR)));
            assertThat(perdure.schedules().get("hourly").health().lastSkipped()).contains(next);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_backfill_runs_the_times_of_a_range_one_after_another_and_none_twice(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT);
            perdure.settle();
            Instant today = perdure.now().truncatedTo(ChronoUnit.DAYS);
            perdure.schedules().put(Schedule.cron("daily", "0 0 * * *", ZoneId.of("UTC"), Invocation.of(REPORT, "in")));
            Instant from = today.minus(Duration.ofDays(4));
            Instant to = today.minus(Duration.ofDays(2));
            perdure.schedules().backfill("daily", from, to, Overlap.WAIT_ALL);
            perdure.advance(MINUTE);
            List<String> expected =
                    List.of(id("daily", from), id("daily", from.plus(Duration.ofDays(1))), id("daily", to));
            assertThat(ids(perdure)).containsExactlyElementsOf(expected);
            perdure.schedules().backfill("daily", from, to, Overlap.ALLOW);
            perdure.schedules().backfill("daily", from, to, Overlap.WAIT_ALL);
            perdure.advance(MINUTE);
            assertThat(ids(perdure)).as("they have runs").containsExactlyElementsOf(expected);
            assertThat(perdure.schedules().get("daily").status().fired()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_backfill_that_reaches_into_the_future_fires_nothing_early(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT);
            perdure.settle();
            perdure.schedules().put(hourly(REPORT).from(perdure.now().minus(HOUR.multipliedBy(2))));
            perdure.settle();
            perdure.schedules()
                    .backfill(
                            "hourly",
                            perdure.now().minus(HOUR.multipliedBy(3)),
                            perdure.now().plus(HOUR.multipliedBy(5)),
                            Overlap.ALLOW);
            perdure.advance(MINUTE);
            int past = fired(perdure).size();
            assertThat(past).isBetween(2, 3);
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(fired(perdure))
                    .hasSize(past + 2)
                    .allSatisfy(run -> assertThat(Instant.parse(run.id().value().substring("hourly@".length())))
                            .isBeforeOrEqualTo(run.createdAt()));
        }
    }

    @Test
    void a_backfill_in_which_each_run_cancels_the_one_before_ends_with_the_last() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(WAITS);
            perdure.settle();
            perdure.schedules().put(hourly(WAITS).from(perdure.now().minus(HOUR.multipliedBy(3))));
            perdure.settle();
            perdure.schedules()
                    .backfill("hourly", perdure.now().minus(HOUR.multipliedBy(3)), perdure.now(), Overlap.CANCEL);
            perdure.advance(MINUTE);
            assertThat(fired(perdure).stream().map(RunInfo::state).toList())
                    .startsWith(RunState.CANCELLED, RunState.CANCELLED)
                    .endsWith(RunState.SUSPENDED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deleted_schedule_is_gone_its_runs_go_on_and_its_name_is_free(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS, REPORT);
            perdure.settle();
            perdure.schedules().put(hourly(WAITS));
            perdure.advance(HOUR.plus(MINUTE));
            perdure.schedules().delete("hourly");
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(fired(perdure))
                    .singleElement()
                    .extracting(RunInfo::state)
                    .isEqualTo(RunState.SUSPENDED);
            assertThat(perdure.schedules().list("", 10)).isEmpty();
            assertThatThrownBy(() -> perdure.schedules().get("hourly"))
                    .isInstanceOf(UnknownScheduleException.class)
                    .hasMessage(
                            "There is no schedule 'hourly'. Check the name with './perdure schedules list', or make it with schedules().put(…).");
            assertThatThrownBy(() -> perdure.schedules().pause("hourly", "why"))
                    .isInstanceOf(UnknownScheduleException.class);
            perdure.schedules().put(hourly(REPORT));
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(in(perdure, RunState.COMPLETED)).isEqualTo(1);
            go(perdure, 0);
            assertThat(perdure.schedules().get("hourly").recent())
                    .as("only of the new one")
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_change_holds_from_then_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT);
            perdure.settle();
            perdure.schedules().put(hourly(REPORT));
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(fired(perdure)).hasSize(1);
            perdure.schedules().put(every("hourly", Duration.ofMinutes(10), REPORT));
            perdure.settle();
            perdure.advance(HOUR);
            assertThat(fired(perdure)).hasSize(7);
            assertThat(perdure.schedules().get("hourly").source()).isEqualTo(ScheduleInfo.Source.RUN_TIME);
        }
    }

    @Test
    void schedules_are_listed_by_name_a_page_at_a_time() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            perdure.schedules()
                    .putAll(List.of(
                            every("c", HOUR, REPORT),
                            every("a", HOUR, REPORT),
                            every("b", HOUR, REPORT),
                            every("a/b", HOUR, REPORT)));
            perdure.settle();
            assertThat(perdure.schedules().list("", 2))
                    .extracting(ScheduleInfo::name)
                    .containsExactly("a", "a/b");
            assertThat(perdure.schedules().list("a/b", 5))
                    .extracting(ScheduleInfo::name)
                    .containsExactly("b", "c");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_has_the_options_of_its_schedule_and_knows_its_times_on_every_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> asks = workflow("asks", (ctx, in) -> {
                Fire before = Fire.of(ctx).orElseThrow();
                ctx.sleep(Duration.ofSeconds(20));
                seen.add(ctx.runId() + " " + Fire.of(ctx).orElseThrow().equals(before));
                return before.scheduledFor().toString();
            });
            perdure.register(asks)
                    .schedules(hourly(asks)
                            .options(StartOptions.defaults()
                                    .priority(3)
                                    .attribute(TEAM, "billing")
                                    .memo("by the hour")));
            perdure.settle();
            perdure.advance(HOUR.plus(MINUTE));
            RunInfo run = fired(perdure).getFirst();
            assertThat(run.description().get(TEAM)).contains("billing");
            assertThat(run.description().memo()).contains("by the hour");
            assertThat("hourly@"
                            + perdure.run(run.id(), TypeRef.of(String.class)).result())
                    .isEqualTo(run.id().value());
            assertThat(seen).contains(run.id() + " true");
        }
    }

    @Test
    void a_run_that_no_schedule_started_has_no_fire_time() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Definition<String, String> asks =
                    workflow("asks", (ctx, in) -> Fire.of(ctx).isPresent() ? "fired" : "not fired");
            perdure.register(asks);
            assertThat(perdure.start(Invocation.of(asks, "in")).result()).isEqualTo("not fired");
        }
    }

    @ParameterizedTest
    @EnumSource
    void failures_are_counted_until_one_completes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean broken = new AtomicBoolean(true);
            Definition<String, String> flaky = workflow("flaky", (ctx, in) -> {
                if (ctx.step("look", broken::get)) {
                    throw new TerminalException("broken");
                }
                return in;
            });
            perdure.register(flaky).schedules(hourly(flaky));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(perdure.schedules().get("hourly").health().failures()).isEqualTo(2);
            assertThat(perdure.schedules().get("hourly").recent().getFirst().state())
                    .as("also of the last, which is counted at the next fire time")
                    .contains(RunState.FAILED);
            broken.set(false);
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(perdure.schedules().get("hourly").health().failures()).isZero();
            assertThat(perdure.schedules().get("hourly").health().lastSuccess()).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_schedule_pauses_after_failures_and_starts_its_reaction_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> fails = workflow("fails", (ctx, in) -> {
                throw new TerminalException("broken");
            });
            Definition<String, String> alarm = workflow("alarm", (ctx, in) -> in);
            perdure.register(fails, alarm).schedules(hourly(fails).pauseAfter(2, Invocation.of(alarm, "wake up")));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(8));
            assertThat(fired(perdure))
                    .extracting(RunInfo::definition)
                    .containsExactlyInAnyOrder("fails", "fails", "alarm");
            assertThat(perdure.schedules().get("hourly").status().paused())
                    .contains(
                            "Paused by itself after 2 failures one after another. Mend the cause, then resume the schedule.");
            perdure.schedules().resume("hourly");
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(fired(perdure)).hasSize(4);
        }
    }
}
