package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.TerminalException;
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
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Schedules across deployments, schedules of DAGs, and ids that other runs have. */
abstract class DeployedScheduleScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Definition<String, String> REPORT = workflow("report", (ctx, in) -> in);

    private static Schedule every(Duration period) {
        return Schedule.of("hourly", Times.every(period), Invocation.of(REPORT, "in"));
    }

    private static ScheduleInfo info(PerdureTest perdure) {
        return perdure.schedules().get("hourly");
    }

    private static List<RunInfo> runs(PerdureTest perdure, String definition) {
        return perdure.runs(RunFilter.all().limit(1_000)).list().reversed().stream()
                .filter(run -> run.definition().equals(definition))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void of_two_versions_side_by_side_the_one_that_was_started_last_decides(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(every(HOUR));
            perdure.settle();
            perdure.redeclareBeside(every(HOUR.dividedBy(2)));
            perdure.settle();
            assertThat(info(perdure).when()).isEqualTo("every PT30M");

            int changes = statesOf(perdure, "schedule:hourly").size();
            perdure.advance(Duration.ofMinutes(20));
            assertThat(statesOf(perdure, "schedule:hourly"))
                    .as("the old version does not fight")
                    .hasSize(changes);
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(runs(perdure, "report")).hasSizeBetween(6, 7);
            assertThat(info(perdure).when()).isEqualTo("every PT30M");
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.CODE);

            perdure.redeclareBeside(every(HOUR.multipliedBy(2)));
            perdure.settle();
            assertThat(info(perdure).when()).as("a rollback").isEqualTo("every PT2H");
        }
    }

    @Test
    void a_deployment_in_a_test_declares_its_schedules_at_once() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT).schedules(every(HOUR));
            perdure.settle();
            perdure.redeclare(every(HOUR.dividedBy(2)));
            perdure.settle();
            assertThat(info(perdure).when()).isEqualTo("every PT30M");
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(runs(perdure, "report")).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_identical_declaration_writes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(every(HOUR).jitter(MINUTE));
            perdure.settle();
            List<RunState> before = statesOf(perdure, "schedule:hourly");
            for (int i = 0; i < 3; i++) {
                perdure.redeclare(every(HOUR).jitter(MINUTE));
                perdure.restart();
                perdure.settle();
            }
            assertThat(statesOf(perdure, "schedule:hourly")).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_an_operator_has_changed_survives_a_deployment_until_it_is_reset(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(REPORT).schedules(every(HOUR));
            perdure.settle();
            perdure.schedules().put(every(Duration.ofMinutes(10)));
            perdure.schedules().pause("hourly", "an audit");
            perdure.settle();
            perdure.redeclare(every(HOUR.multipliedBy(2)));
            perdure.restart();
            perdure.settle();
            assertThat(info(perdure).when()).isEqualTo("every PT10M");
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.CHANGED);
            assertThat(info(perdure).status().paused()).contains("an audit");
            perdure.schedules().resume("hourly");
            perdure.advance(HOUR);
            assertThat(runs(perdure, "report")).hasSizeBetween(5, 6);
            perdure.schedules().reset("hourly");
            perdure.settle();
            assertThat(info(perdure).when()).isEqualTo("every PT2H");
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.CODE);
        }
    }

    @Test
    void a_schedule_that_no_live_worker_declares_is_orphaned_and_goes_on_when_one_does() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Schedule all = every(HOUR).overlap(Overlap.ALLOW).catchUp(CatchUp.all(Duration.ofDays(1)));
            perdure.register(REPORT).schedules(all);
            perdure.settle();
            perdure.redeclare();
            perdure.restart();
            perdure.advance(HOUR.multipliedBy(3).plus(MINUTE));
            assertThat(runs(perdure, "report")).isEmpty();
            assertThat(info(perdure).status().orphaned())
                    .contains("No live worker has the definition 'perdure.schedule:hourly'.");

            perdure.redeclare(all);
            perdure.startWorker();
            perdure.advance(MINUTE);
            assertThat(runs(perdure, "report")).hasSize(3);
            assertThat(info(perdure).status().orphaned()).isEmpty();

            perdure.redeclare();
            perdure.crashAll();
            perdure.startWorker();
            perdure.advance(HOUR.multipliedBy(2));
            perdure.schedules().delete("hourly");
            assertThat(perdure.schedules().list("", 10))
                    .as("no worker can delete it, so it is there until one can")
                    .hasSize(1);
        }
    }

    @Test
    void a_name_is_declared_or_made_at_run_time_and_not_both() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            perdure.schedules().put(every(HOUR));
            perdure.settle();
            assertThatThrownBy(() -> perdure.redeclare(every(HOUR)))
                    .isInstanceOf(DefinitionException.class)
                    .hasMessage(
                            "The schedule 'hourly' is declared, and one of this name was made at run time. Give the declared one another name, or delete the other with schedules().delete(…).");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_name_of_a_deleted_schedule_can_be_declared_and_made_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of("night", String.class, d -> d.task("only", t -> t.input()));
            perdure.register(REPORT, dag);
            perdure.settle();
            perdure.schedules().put(Schedule.of("hourly", Times.every(HOUR), Invocation.of(dag, "in")));
            perdure.settle();
            perdure.schedules().delete("hourly");
            perdure.crashAll(); // the deletion is read by nobody before the next deployment
            perdure.redeclare(every(HOUR));
            perdure.startWorker();
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(runs(perdure, "report")).hasSize(1);
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.CODE);

            perdure.schedules().delete("hourly");
            perdure.settle();
            perdure.redeclare();
            perdure.deploy(REPORT); // neither the DAG nor the declaration is there any more
            perdure.schedules().put(every(HOUR));
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(runs(perdure, "report")).hasSize(2);
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.RUN_TIME);
            assertThat(info(perdure).status().orphaned()).isEmpty();

            perdure.schedules().delete("hourly");
            perdure.settle();
            perdure.redeclare(every(HOUR));
            perdure.startWorker();
            perdure.advance(HOUR.plus(MINUTE));
            assertThat(runs(perdure, "report")).hasSize(3);
            assertThat(info(perdure).source()).isEqualTo(ScheduleInfo.Source.CODE);
        }
    }

    @Test
    void a_turn_that_cannot_be_taken_pauses_the_schedule_and_loses_nothing() {
        Definition<String, String> sleeps = workflow("sleeps", (ctx, in) -> {
            ctx.sleep(HOUR.multipliedBy(100));
            return in;
        });
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(sleeps).maxPayloadBytes(1_500);
            perdure.settle();
            perdure.schedules()
                    .put(Schedule.of("often", Times.every(HOUR), Invocation.of(sleeps, "in"))
                            .overlap(Overlap.WAIT_ALL));
            perdure.advance(HOUR.multipliedBy(60));
            assertThat(statesOf(perdure, "schedule:often").getLast()).isEqualTo(RunState.PAUSED);
            assertThat(perdure.schedules().get("often").status().paused().orElseThrow())
                    .startsWith("The schedule 'often' cannot take its turn: ")
                    .endsWith(" Nothing was applied. Put that right, then resume the run 'schedule:often'.");
        }
    }

    @Test
    void names_of_the_engine_are_refused() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(REPORT);
            perdure.settle();
            for (String prefix : List.of("schedule:", "bulk:", "reencryption:", "reaction:")) {
                assertThatThrownBy(() -> perdure.start(Invocation.of(REPORT, "in"), StartOptions.id(prefix + "x")))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessage(
                                "The run id '%sx' begins with '%s', which is reserved for the engine. Choose another one.",
                                prefix, prefix);
            }
            assertThatThrownBy(() -> perdure.start(
                            Invocation.of(REPORT, "in"), StartOptions.defaults().queue("perdure.schedules")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The queue 'perdure.schedules' begins with 'perdure.', which is reserved for the engine. Choose another one.");
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
        }
    }

    // ---- DAGs

    @ParameterizedTest
    @EnumSource
    void a_dag_is_scheduled_like_a_workflow_and_its_tasks_have_no_fire_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> said = new CopyOnWriteArrayList<>();
            Dag<String, String> dag = Dag.of("night", String.class, d -> {
                var first =
                        d.workflow("first", (ctx, t) -> t.input() + Fire.of(ctx).isPresent());
                return d.after(first).task("second", (t, before) -> {
                    said.add(before);
                    return before;
                });
            });
            perdure.register(dag).schedules(Schedule.of("declared", Times.every(HOUR), Invocation.of(dag, "d")));
            perdure.settle();
            perdure.schedules().put(Schedule.of("made", Times.every(HOUR), Invocation.of(dag, "m")));
            perdure.settle();
            perdure.advance(HOUR.multipliedBy(2).plus(MINUTE));
            assertThat(runs(perdure, "night"))
                    .hasSize(4)
                    .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.COMPLETED));
            assertThat(said).contains("dfalse", "mfalse");
            assertThat(perdure.schedules().get("made").recent()).hasSize(2);
            assertThat(perdure.schedules().get("made").definition()).isEqualTo("night");
        }
    }

    @Test
    void a_schedule_of_a_dag_waits_for_a_worker_that_has_the_dag() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Dag<String, String> dag = Dag.of("night", String.class, d -> d.task("only", t -> t.input()));
            perdure.register(dag);
            perdure.settle();
            perdure.schedules().put(Schedule.of("made", Times.every(HOUR), Invocation.of(dag, "m")));
            perdure.settle();
            perdure.deploy(REPORT);
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(runs(perdure, "night")).isEmpty();
            assertThat(perdure.schedules().get("made").status().orphaned())
                    .contains("No live worker has the definition 'perdure.schedule.dag:night'.");
            perdure.deploy(dag);
            perdure.advance(MINUTE);
            assertThat(runs(perdure, "night")).hasSize(1);
        }
    }

    // ---- ids

    @ParameterizedTest
    @EnumSource
    void a_foreign_run_under_the_id_of_a_fire_time_is_left_alone_and_the_schedule_goes_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> fires = new CopyOnWriteArrayList<>();
            Definition<String, String> asks = workflow("asks", (ctx, in) -> {
                ctx.sleep(HOUR.multipliedBy(3));
                fires.add(in + Fire.of(ctx).isPresent());
                return in;
            });
            perdure.register(asks, REPORT)
                    .schedules(Schedule.of("hourly", Times.every(HOUR), Invocation.of(asks, "fired"))
                            .overlap(Overlap.WAIT));
            perdure.settle();
            Instant first = info(perdure).next().getFirst();
            perdure.start(Invocation.of(asks, "foreign"), StartOptions.id("hourly@" + first));
            perdure.advance(Duration.between(perdure.now(), first.plus(HOUR)).plus(MINUTE));
            assertThat(runs(perdure, "asks"))
                    .extracting(RunInfo::id)
                    .containsExactly(RunId.of("hourly@" + first), RunId.of("hourly@" + first.plus(HOUR)));
            assertThat(info(perdure).status().waiting()).isZero();
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(fires).contains("foreignfalse", "firedtrue").doesNotContain("foreigntrue");
        }
    }

    private static Definition<String, String> until(Instant end, boolean fails) {
        return workflow("sleeps", (ctx, in) -> {
            ctx.sleep(Duration.between(ctx.now(), end));
            if (fails) {
                throw new TerminalException("broken");
            }
            return in;
        });
    }

    @Test
    void very_many_runs_that_have_not_ended_all_count_for_pauses_and_overlaps() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Instant end = perdure.now().plus(HOUR.multipliedBy(4));
            Definition<String, String> sleeps = until(end, true);
            Schedule often = Schedule.of("often", Times.every(MINUTE), Invocation.of(sleeps, "in"))
                    .overlap(Overlap.ALLOW)
                    .pauseAfter(125);
            perdure.register(sleeps).schedules(often);
            perdure.settle();
            perdure.advance(MINUTE.multipliedBy(130).plusSeconds(30));
            assertThat(runs(perdure, "sleeps")).hasSize(130);
            perdure.redeclare(often.overlap(Overlap.SKIP));
            perdure.startWorker();
            perdure.settle();
            runs(perdure, "sleeps")
                    .subList(28, 130)
                    .forEach(run ->
                            perdure.run(run.id(), TypeRef.of(String.class)).kill("enough"));
            perdure.advance(MINUTE.multipliedBy(10));
            assertThat(runs(perdure, "sleeps")).as("28 have not ended").hasSize(130);
            assertThat(perdure.schedules().get("often").health().skipReason())
                    .contains("One of 28 earlier runs had not ended.");
        }
    }

    @Test
    void a_schedule_pauses_after_more_failures_at_once_than_it_lists() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Instant end = perdure.now().plus(HOUR.multipliedBy(4));
            Definition<String, String> sleeps = until(end, true);
            perdure.register(sleeps)
                    .schedules(Schedule.of("often", Times.every(MINUTE), Invocation.of(sleeps, "in"))
                            .overlap(Overlap.ALLOW)
                            .pauseAfter(200));
            perdure.settle();
            perdure.advance(Duration.between(perdure.now(), end).plus(MINUTE.multipliedBy(2)));
            assertThat(perdure.schedules().get("often").status().paused().orElseThrow())
                    .startsWith("Paused by itself after 2")
                    .endsWith(" failures one after another. Mend the cause, then resume the schedule.");
        }
    }
}
