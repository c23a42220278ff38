package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Operations;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.queue.Queue;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who has changed what. */
abstract class AuditScenarios extends Scenarios {
    private static final Operator ANNA = Operator.named("anna").from("10.0.0.7");

    private static List<String> audit(PerdureTest perdure, AuditFilter filter) {
        return perdure.audit().list(filter).reversed().stream()
                .map(AuditEntry::text)
                .toList();
    }

    private static void step(PerdureTest perdure) {
        perdure.advance(Duration.ofSeconds(1));
    }

    @ParameterizedTest
    @EnumSource
    void commands_to_a_run_are_recorded_under_the_operator_who_gave_them(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.sleep(Duration.ofDays(1));
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("order"));
            perdure.settle();
            Run<String> byAnna = perdure.as(ANNA).run(run.id(), TypeRef.of(String.class));
            byAnna.pause("look at it");
            step(perdure);
            run.resume();
            run.resume();
            step(perdure);
            byAnna.kill("twice");
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            step(perdure);
            byAnna.retry();
            assertThat(run.state()).isNotEqualTo(RunState.CANCELLED);

            assertThat(audit(perdure, AuditFilter.run("order")))
                    .containsExactly(
                            "PAUSE run 'order' by anna@10.0.0.7: look at it",
                            "RESUME run 'order' by test",
                            "KILL run 'order' by anna@10.0.0.7: twice",
                            "RETRY run 'order' by anna@10.0.0.7");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_that_cancels_its_child_leaves_no_entry(TestMode mode) {
        Definition<String, String> child = workflow("child", (ctx, in) -> {
            ctx.sleep(Duration.ofDays(1));
            return in;
        });
        Definition<String, String> parent = workflow("parent", (ctx, in) -> ctx.call(Invocation.of(child, in)));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(parent, child);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("parent"));
            perdure.settle();
            run.cancel("enough");
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);

            assertThat(audit(perdure, AuditFilter.all())).containsExactly("CANCEL run 'parent' by test: enough");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_kill_of_a_run_that_has_ended_is_recorded_at_the_children_that_it_ends(TestMode mode) {
        Definition<String, String> child = workflow("child", (ctx, in) -> {
            ctx.sleep(Duration.ofDays(1));
            return in;
        });
        Definition<String, String> parent = workflow("parent", (ctx, in) -> {
            ctx.startChild(Invocation.of(child, in), ChildOptions.childId("child"));
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(parent, child);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("parent"));
            run.result();
            perdure.settle();
            run.kill("tidy up");
            perdure.settle();
            assertThat(perdure.run(RunId.of("child"), TypeRef.of(String.class)).state())
                    .isEqualTo(RunState.CANCELLED);
            run.kill("tidy up");

            assertThat(audit(perdure, AuditFilter.all())).containsExactly("KILL run 'child' by test: tidy up");
        }
    }

    @ParameterizedTest
    @EnumSource
    void changes_of_queues_schedules_and_retention_are_recorded(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            perdure.queues().declare(Queue.named("mails").concurrency(5));
            Operations anna = perdure.as(ANNA);
            anna.queues().limit(Queue.named("mails").concurrency(2));
            step(perdure);
            anna.schedules().put(Schedule.of("nightly", Times.every(Duration.ofDays(1)), Invocation.of(flow, "x")));
            step(perdure);
            anna.schedules().pause("nightly", "holidays");
            step(perdure);
            anna.retention().change(Retention.days(3));
            step(perdure);
            anna.retention().reset();
            anna.retention().reset();

            assertThat(audit(perdure, AuditFilter.all()))
                    .containsExactly(
                            "CHANGE queue 'mails' by anna@10.0.0.7: {concurrency=2}",
                            "CHANGE schedule 'nightly' by anna@10.0.0.7",
                            "PAUSE schedule 'nightly' by anna@10.0.0.7: holidays",
                            "CHANGE retention by anna@10.0.0.7: all PT72H",
                            "RESET retention by anna@10.0.0.7");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_command_that_leaves_a_schedule_as_it_is_leaves_no_entry(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
        Schedule nightly = Schedule.of("nightly", Times.every(Duration.ofDays(1)), Invocation.of(flow, "x"));
        Schedule hourly = Schedule.of("nightly", Times.every(Duration.ofHours(1)), Invocation.of(flow, "x"));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            for (int i = 0; i < 2; i++) {
                perdure.schedules().put(nightly);
                step(perdure);
            }
            perdure.schedules().resume("nightly");
            perdure.schedules().reset("nightly");
            step(perdure);
            for (int i = 0; i < 2; i++) {
                perdure.schedules().pause("nightly", "holidays");
                step(perdure);
            }
            for (int i = 0; i < 2; i++) {
                perdure.schedules().resume("nightly");
                step(perdure);
            }
            perdure.schedules().put(hourly);
            step(perdure);

            assertThat(audit(perdure, AuditFilter.all()))
                    .containsExactly(
                            "CHANGE schedule 'nightly' by test",
                            "PAUSE schedule 'nightly' by test: holidays",
                            "RESUME schedule 'nightly' by test",
                            "CHANGE schedule 'nightly' by test");
            assertThat(perdure.schedules().get("nightly").status().paused()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "NORMAL")
    void commands_to_a_schedule_that_has_not_read_the_last_one_are_sent_and_recorded(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            perdure.schedules().put(Schedule.of("nightly", Times.every(Duration.ofDays(1)), Invocation.of(flow, "x")));
            step(perdure);
            perdure.crashAll();
            perdure.client().schedules().pause("nightly", "holidays");
            perdure.client().schedules().resume("nightly");
            perdure.startWorker();
            step(perdure);

            assertThat(audit(perdure, AuditFilter.all()))
                    .containsExactlyInAnyOrder(
                            "CHANGE schedule 'nightly' by test",
                            "PAUSE schedule 'nightly' by test: holidays",
                            "RESUME schedule 'nightly' by test");
            assertThat(perdure.schedules().get("nightly").status().paused()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "NORMAL")
    void a_name_that_no_run_can_have_is_refused(TestMode mode) {
        assertThatThrownBy(() -> AuditFilter.run("a\0b"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The name holds the character U+0000 at index 1, which cannot be stored as text. Remove or encode it.");
    }

    @ParameterizedTest
    @EnumSource(names = "NORMAL")
    void an_operator_has_a_name(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            assertThatThrownBy(() -> perdure.as(Operator.named("")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("operator");
        }
        assertThat(Operator.ofProcess().name()).isEqualTo(System.getProperty("user.name"));
    }
}
