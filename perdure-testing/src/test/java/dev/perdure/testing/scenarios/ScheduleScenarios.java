package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ScheduleScenarios extends ScheduledRuns {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @Test
    void a_nightly_job_fires_once_a_day_for_a_year_through_both_changes_of_the_clock() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            List<Fire> fires = new CopyOnWriteArrayList<>();
            Definition<String, String> nightly = workflow("nightly", (ctx, in) -> {
                fires.add(Fire.of(ctx).orElseThrow());
                return in;
            });
            perdure.register(nightly)
                    .schedules(Schedule.cron("nightly", "30 2 * * *", BERLIN, Invocation.of(nightly, "in")));
            perdure.settle();
            Instant begin = perdure.now();
            perdure.advance(Duration.ofDays(365));

            assertThat(fires).hasSize(365);
            assertThat(fires.stream()
                            .map(fire -> fire.scheduledFor().atZone(BERLIN).toLocalDate())
                            .collect(Collectors.toSet()))
                    .hasSize(365);
            assertThat(fires).allSatisfy(fire -> {
                assertThat(fire.schedule()).isEqualTo("nightly");
                assertThat(fire.scheduledFor()).isAfter(begin);
                assertThat(fire.lateness()).isLessThan(Duration.ofSeconds(2));
                int hour = fire.scheduledFor().atZone(BERLIN).getHour();
                assertThat(hour).isBetween(2, 3);
            });
            assertThat(fires.stream()
                            .filter(fire -> fire.scheduledFor().atZone(BERLIN).getHour() == 3))
                    .as("the night in which 02:30 does not exist")
                    .hasSize(1);
            for (int i = 1; i < fires.size(); i++) {
                assertThat(fires.get(i).previous()).contains(fires.get(i - 1).scheduledFor());
            }
            assertThat(perdure.schedules().get("nightly").status().fired()).isEqualTo(365);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fixed_rate_fires_at_every_period_under_the_id_of_the_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(hourly(REPORT));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));

            List<RunInfo> runs = fired(perdure);
            assertThat(runs).hasSize(3);
            assertThat(runs).allSatisfy(run -> {
                assertThat(run.state()).isEqualTo(RunState.COMPLETED);
                assertThat(run.definition()).isEqualTo("report");
            });
            ScheduleInfo info = perdure.schedules().get("hourly");
            assertThat(info.recent()).hasSize(3);
            Instant last = info.recent().getFirst().scheduledFor();
            assertThat(ids(perdure))
                    .containsExactly(
                            id("hourly", last.minus(HOUR.multipliedBy(2))),
                            id("hourly", last.minus(HOUR)),
                            id("hourly", last));
            assertThat(info.next()).hasSize(5).startsWith(last.plus(HOUR)).endsWith(last.plus(HOUR.multipliedBy(5)));
            assertThat(info.recent()).allSatisfy(run -> assertThat(run.state()).contains(RunState.COMPLETED));
            assertThat(info.source()).isEqualTo(ScheduleInfo.Source.CODE);
            assertThat(info.definition()).isEqualTo("report");
            assertThat(info.when()).isEqualTo("every PT1H");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fixed_delay_counts_from_the_end_of_the_last_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(Schedule.of("delayed", Times.afterEnd(HOUR), Invocation.of(WAITS, "in")));
            perdure.settle();
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(fired(perdure)).hasSize(1);
            perdure.advance(HOUR.multipliedBy(5));
            assertThat(fired(perdure)).as("the first has not ended").hasSize(1);
            go(perdure, 0);
            Instant end = perdure.now();
            perdure.advance(HOUR.minus(MINUTE));
            assertThat(fired(perdure)).hasSize(1);
            perdure.advance(MINUTE.multipliedBy(2));
            assertThat(fired(perdure)).hasSize(2);
            assertThat(perdure.schedules().get("delayed").recent().getFirst().scheduledFor())
                    .isBetween(end.plus(HOUR), end.plus(HOUR).plusSeconds(2));
        }
    }

    @ParameterizedTest
    @EnumSource
    void given_instants_and_a_rate_fire_together_once_each(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT);
            perdure.settle();
            Instant start = perdure.now().truncatedTo(ChronoUnit.HOURS).plus(HOUR);
            Times times = Times.every(HOUR)
                    .and(Times.at(start.plus(HOUR), start.plus(MINUTE.multipliedBy(90)), start.minus(HOUR)));
            perdure.schedules()
                    .put(Schedule.of("both", times, Invocation.of(REPORT, "in")).from(start));
            perdure.settle();
            perdure.advance(Duration.between(perdure.now(), start.plus(HOUR.multipliedBy(2)))
                    .plus(MINUTE));
            assertThat(ids(perdure))
                    .containsExactly(
                            id("both", start),
                            id("both", start.plus(HOUR)),
                            id("both", start.plus(MINUTE.multipliedBy(90))),
                            id("both", start.plus(HOUR.multipliedBy(2))));
        }
    }

    @Test
    void holidays_and_both_ends_are_kept() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            LocalDate first = perdure.now().atZone(BERLIN).toLocalDate().plusDays(2);
            Instant from = first.atStartOfDay(BERLIN).toInstant();
            Instant until = first.plusDays(5).atTime(12, 0).atZone(BERLIN).toInstant();
            perdure.schedules()
                    .put(Schedule.of(
                                    "working",
                                    Times.cron("0 12 * * *", BERLIN)
                                            .except(BERLIN, first.plusDays(1), first.plusDays(3)),
                                    Invocation.of(REPORT, "in"))
                            .from(from)
                            .until(until));
            perdure.settle();
            perdure.advance(Duration.ofDays(20));
            assertThat(fired(perdure).stream()
                            .map(run -> run.createdAt().atZone(BERLIN).toLocalDate()))
                    .containsExactly(first, first.plusDays(2), first.plusDays(4), first.plusDays(5));
            assertThat(perdure.schedules().get("working").next()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_schedule_with_a_limit_fires_so_often_and_triggers_do_not_count(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(hourly(REPORT).limit(2));
            perdure.settle();
            RunId triggered = perdure.schedules().trigger("hourly");
            perdure.advance(HOUR.multipliedBy(6));
            assertThat(fired(perdure)).hasSize(3);
            assertThat(perdure.run(triggered, TypeRef.of(String.class)).result())
                    .isEqualTo("in");
            assertThat(triggered.value()).startsWith("hourly!");
        }
    }

    @Test
    void a_jitter_is_the_same_every_time_and_not_in_the_id() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            Instant from = perdure.now().truncatedTo(ChronoUnit.HOURS).plus(HOUR);
            for (int i = 0; i < 5; i++) {
                perdure.schedules().put(every("j" + i, HOUR, REPORT).from(from).jitter(Duration.ofMinutes(30)));
            }
            perdure.settle();
            perdure.advance(Duration.between(perdure.now(), from).plus(HOUR).plus(MINUTE.multipliedBy(40)));
            List<Long> delays = fired(perdure).stream()
                    .filter(run -> run.id().value().endsWith("@" + from))
                    .map(run -> Duration.between(from, run.createdAt()).toSeconds())
                    .toList();
            assertThat(fired(perdure)).hasSize(10);
            assertThat(delays).hasSize(5).allSatisfy(delay -> assertThat(delay).isBetween(0L, 1801L));
            assertThat(delays).as("they differ").doesNotHaveDuplicates();
        }
    }

    // ---- overlap

    @ParameterizedTest
    @EnumSource
    void skip_fires_nothing_while_a_run_has_not_ended_and_says_why(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(hourly(WAITS));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(fired(perdure)).hasSize(1);
            ScheduleInfo info = perdure.schedules().get("hourly");
            assertThat(info.health().skipReason())
                    .contains("Run '%s' had not ended.".formatted(ids(perdure).getFirst()));
            go(perdure, 0);
            perdure.advance(HOUR);
            assertThat(fired(perdure)).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void wait_lets_one_fire_time_wait(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(hourly(WAITS).overlap(Overlap.WAIT));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(4).plus(MINUTE));
            assertThat(fired(perdure)).hasSize(1);
            assertThat(perdure.schedules().get("hourly").status().waiting()).isEqualTo(1);
            go(perdure, 0);
            perdure.advance(Duration.ofSeconds(5));
            assertThat(fired(perdure)).hasSize(2);
            Instant first = perdure.schedules().get("hourly").recent().getLast().scheduledFor();
            assertThat(ids(perdure).getLast()).isEqualTo(id("hourly", first.plus(HOUR)));
            go(perdure, 1);
            perdure.advance(Duration.ofSeconds(5));
            assertThat(fired(perdure)).as("the third and fourth were skipped").hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void wait_all_lets_all_fire_times_wait_in_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(hourly(WAITS).overlap(Overlap.WAIT_ALL));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            for (int i = 0; i < 3; i++) {
                assertThat(fired(perdure)).hasSize(i + 1);
                go(perdure, i);
                perdure.advance(Duration.ofSeconds(5));
            }
            Instant first = perdure.schedules().get("hourly").recent().getLast().scheduledFor();
            assertThat(ids(perdure))
                    .containsExactly(
                            id("hourly", first),
                            id("hourly", first.plus(HOUR)),
                            id("hourly", first.plus(HOUR.multipliedBy(2))));
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancel_ends_the_running_one_before_the_next_begins(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(hourly(WAITS).overlap(Overlap.CANCEL));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(fired(perdure))
                    .extracting(RunInfo::state)
                    .containsExactly(RunState.CANCELLED, RunState.CANCELLED, RunState.SUSPENDED);
            assertThat(fired(perdure).getFirst().reason().orElseThrow()).startsWith("The schedule 'hourly' fires for ");
            assertThat(perdure.schedules().get("hourly").health().failures()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void allow_lets_runs_be_beside_each_other(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITS).schedules(hourly(WAITS).overlap(Overlap.ALLOW));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(in(perdure, RunState.SUSPENDED)).isEqualTo(3);
        }
    }

    // ---- no worker

    @Test
    void without_catching_up_a_time_that_is_more_than_a_minute_late_is_skipped() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT).schedules(hourly(REPORT).catchUp(CatchUp.none()));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(HOUR.multipliedBy(3).plus(Duration.ofMinutes(10)));
            perdure.startWorker();
            perdure.advance(MINUTE);
            assertThat(fired(perdure)).isEmpty();
            assertThat(perdure.schedules().get("hourly").health().skipReason())
                    .contains("No worker fired it within PT1M.");
            perdure.advance(HOUR);
            assertThat(fired(perdure)).hasSize(1);
        }
    }

    @Test
    void by_default_the_last_of_the_missed_times_is_fired() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT).schedules(hourly(REPORT));
            perdure.settle();
            perdure.crashAll();
            Instant away = perdure.now();
            perdure.advance(HOUR.multipliedBy(3).plus(Duration.ofMinutes(10)));
            perdure.startWorker();
            perdure.advance(MINUTE);
            assertThat(fired(perdure)).hasSize(1);
            assertThat(perdure.schedules().get("hourly").recent().getFirst().scheduledFor())
                    .isBetween(
                            away.plus(HOUR.multipliedBy(2)),
                            away.plus(HOUR.multipliedBy(3)).plusSeconds(5));
            assertThat(perdure.schedules().get("hourly").health().skipReason())
                    .contains("No worker fired it in time, and a later fire time had come.");
        }
    }

    @Test
    void all_missed_times_within_the_window_are_fired_once_each() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT)
                    .schedules(every("often", MINUTE, REPORT)
                            .overlap(Overlap.ALLOW)
                            .catchUp(CatchUp.all(HOUR.multipliedBy(4))));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(HOUR.multipliedBy(5));
            perdure.startWorker();
            perdure.advance(Duration.ofSeconds(30));
            assertThat(fired(perdure)).hasSizeBetween(240, 241);
            assertThat(ids(perdure)).doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @EnumSource
    void commands_that_come_while_many_missed_times_are_due_lose_none_of_them(TestMode mode) {
        Schedule often =
                every("often", MINUTE, REPORT).overlap(Overlap.ALLOW).catchUp(CatchUp.all(HOUR.multipliedBy(4)));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(often);
            perdure.settle();
            perdure.crashAll();
            perdure.advance(MINUTE.multipliedBy(150).plusSeconds(30));
            perdure.redeclare(often.jitter(Duration.ofMillis(1)));
            perdure.client().schedules().trigger("often");
            perdure.client().schedules().skipNext("often");
            perdure.client().schedules().pause("often", "after all that");
            perdure.startWorker();
            perdure.advance(Duration.ofSeconds(10));
            assertThat(fired(perdure)).as("150 fire times and a trigger").hasSize(151);
            assertThat(ids(perdure)).doesNotHaveDuplicates();
            assertThat(perdure.schedules().get("often").status().paused()).contains("after all that");
            perdure.advance(HOUR);
            assertThat(fired(perdure)).hasSize(151);
        }
    }

    @ParameterizedTest
    @EnumSource
    void missed_times_are_caught_up_one_after_another_whatever_happens_to_overlaps(Overlap overlap) {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(WAITS)
                    .schedules(hourly(WAITS).overlap(overlap).catchUp(CatchUp.all(HOUR.multipliedBy(9))));
            perdure.settle();
            Instant first = perdure.schedules().get("hourly").next().getFirst();
            perdure.crashAll();
            perdure.advance(HOUR.multipliedBy(4).plus(MINUTE));
            perdure.startWorker();
            perdure.advance(MINUTE);
            int runs = overlap == Overlap.ALLOW ? 4 : 1;
            assertThat(fired(perdure)).hasSize(runs);
            if (overlap == Overlap.CANCEL) {
                assertThat(ids(perdure)).containsExactly(id("hourly", first.plus(HOUR.multipliedBy(3))));
                return; // each would have been cancelled by the next
            }
            for (int i = 0; i < 4; i++) {
                assertThat(fired(perdure)).hasSize(Math.max(runs, i + 1));
                go(perdure, i);
                perdure.advance(Duration.ofSeconds(5));
            }
            assertThat(ids(perdure))
                    .containsExactlyInAnyOrder(
                            id("hourly", first),
                            id("hourly", first.plus(HOUR)),
                            id("hourly", first.plus(HOUR.multipliedBy(2))),
                            id("hourly", first.plus(HOUR.multipliedBy(3))));

            perdure.advance(HOUR); // this one is on time, and at work when the next ones are missed
            perdure.crashAll();
            perdure.advance(HOUR.multipliedBy(3));
            perdure.startWorker();
            perdure.advance(MINUTE);
            int missed = overlap == Overlap.ALLOW ? 3 : 0;
            assertThat(fired(perdure)).hasSize(5 + missed);
            assertThat(perdure.schedules().get("hourly").status().waiting())
                    .isEqualTo(
                            switch (overlap) {
                                case WAIT -> 1;
                                case WAIT_ALL -> 3;
                                default -> 0;
                            });
        }
    }

    @Test
    void a_turn_decides_about_a_bounded_number_of_missed_times() {
        for (Overlap overlap : List.of(Overlap.SKIP, Overlap.WAIT, Overlap.WAIT_ALL, Overlap.CANCEL)) {
            try (PerdureTest perdure = create(TestMode.NORMAL)) {
                perdure.register(WAITS)
                        .schedules(every("often", Duration.ofMillis(100), WAITS)
                                .overlap(overlap)
                                .catchUp(CatchUp.all(Duration.ofDays(30_000))));
                perdure.settle();
                perdure.crashAll();
                perdure.advance(Duration.ofDays(20_000));
                perdure.startWorker();
                perdure.settle();
                assertThat(fired(perdure)).as(overlap.name()).hasSize(1);
                assertThat(perdure.schedules().get("often").status().waiting())
                        .as(overlap.name())
                        .isEqualTo(overlap == Overlap.CANCEL ? 0 : 1_000);
            }
        }
    }

    @Test
    void a_schedule_counts_from_when_it_was_put_and_not_from_when_a_worker_first_saw_it() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            perdure.crashAll();
            perdure.client()
                    .schedules()
                    .put(hourly(REPORT).overlap(Overlap.ALLOW).catchUp(CatchUp.all(HOUR.multipliedBy(9))));
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            perdure.startWorker();
            perdure.advance(MINUTE);
            assertThat(fired(perdure)).hasSize(3);
        }
    }

    @Test
    void a_pause_does_not_reach_back_to_times_before_it() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT).schedules(hourly(REPORT));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(HOUR.plus(MINUTE));
            perdure.client().schedules().pause("hourly", "from now on");
            perdure.advance(HOUR);
            perdure.startWorker();
            perdure.advance(MINUTE);
            assertThat(fired(perdure)).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_at_any_commit_neither_loses_nor_doubles_a_fire_time(TestMode mode) {
        for (int commit = 0; commit < 6; commit++) {
            try (PerdureTest perdure = create(mode)) {
                perdure.register(REPORT)
                        .schedules(every("often", MINUTE, REPORT)
                                .overlap(Overlap.ALLOW)
                                .catchUp(CatchUp.all(HOUR)));
                perdure.settle();
                if (commit % 2 == 0) {
                    perdure.crashBeforeCommit(commit);
                } else {
                    perdure.crashAfterCommit(commit);
                }
                perdure.advance(MINUTE.multipliedBy(8).plusSeconds(30));
                assertThat(fired(perdure)).as("a crash at commit " + commit).hasSize(8);
                assertThat(in(perdure, RunState.COMPLETED)).isEqualTo(8);
            }
        }
    }
}
