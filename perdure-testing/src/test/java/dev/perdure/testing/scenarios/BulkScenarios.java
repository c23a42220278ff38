package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One command to all runs that a filter selects. */
abstract class BulkScenarios extends Scenarios {
    private static final Operator ANNA = Operator.named("anna").from("10.0.0.7");
    private static final Attribute<String> CUSTOMER = Attribute.text("customer");
    private static final RunFilter SLEEPERS = RunFilter.all().definition("sleeper");

    private static final Definition<String, String> SLEEPER = workflow("sleeper", (ctx, in) -> {
        ctx.sleep(Duration.ofDays(1));
        return in;
    });

    private static List<Run<String>> sleepers(PerdureTest perdure, String prefix, int count) {
        return perdure.startAll(
                IntStream.range(0, count).boxed().toList(),
                i -> Invocation.of(SLEEPER, "x"),
                i -> id(prefix + i).attribute(CUSTOMER, "c-" + i % 2));
    }

    private static Map<RunState, RunCount> exactly(RunState state, int count) {
        return Map.of(state, new RunCount(count, false));
    }

    private static BulkReport changed(long runs) {
        return new BulkReport(runs, 0, 0, List.of());
    }

    @ParameterizedTest
    @EnumSource
    void runs_are_paused_resumed_cancelled_and_killed_page_by_page(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            sleepers(perdure, "a", 230);
            sleepers(perdure, "b", 20);
            perdure.settle();
            RunFilter ours = SLEEPERS.idPrefix("a");

            assertThat(perdure.runs(ours).start(BulkAction.pause("wait")).result())
                    .isEqualTo(changed(230));
            assertThat(perdure.runs(ours).count()).isEqualTo(exactly(RunState.PAUSED, 230));
            assertThat(perdure.runs(ours.where(CUSTOMER.is("c-1")))
                            .start(BulkAction.resume())
                            .result())
                    .isEqualTo(changed(115));
            perdure.settle();
            assertThat(perdure.runs(ours.state(RunState.PAUSED)).count()).isEqualTo(exactly(RunState.PAUSED, 115));
            assertThat(perdure.runs(ours.state(RunState.PAUSED))
                            .start(BulkAction.kill("no"))
                            .result())
                    .isEqualTo(changed(115));
            assertThat(perdure.runs(ours.reason("no")).count()).isEqualTo(exactly(RunState.CANCELLED, 115));
            assertThat(perdure.runs(ours).start(BulkAction.cancel("enough")).result())
                    .isEqualTo(changed(115));
            perdure.settle();
            assertThat(perdure.runs(ours).count()).isEqualTo(exactly(RunState.CANCELLED, 230));
            assertThat(perdure.runs(SLEEPERS.idPrefix("b")).count()).isEqualTo(exactly(RunState.SUSPENDED, 20));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_run_of_a_bulk_action_tells_what_it_does_and_how_far_it_is(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            List<Run<String>> runs = sleepers(perdure, "a", 3);
            perdure.settle();

            Run<BulkReport> bulk =
                    perdure.as(ANNA).runs(SLEEPERS.state(RunState.SUSPENDED)).start(BulkAction.cancel("wrong price"));
            perdure.settle();

            assertThat(perdure.run(bulk.id(), TypeRef.of(BulkReport.class)).result())
                    .isEqualTo(changed(3));
            assertThat(bulk.id().value()).startsWith("bulk:");
            assertThat(bulk.info().description().memo())
                    .contains("cancel runs with definition=sleeper state=SUSPENDED, by anna@10.0.0.7: wrong price");
            assertThat(bulk.info().description().status())
                    .contains("cancel: 3 of about 3 runs: 3 changed, 0 skipped, 0 refused");
            assertThat(perdure.audit().list(AuditFilter.run(runs.getFirst().id().value())))
                    .extracting(AuditEntry::text)
                    .containsExactly("CANCEL run 'a0' by anna@10.0.0.7: in %s: wrong price".formatted(bulk.id()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void failed_runs_are_retried_and_those_that_cannot_be_are_reported(TestMode mode) {
        AtomicBoolean broken = new AtomicBoolean(true);
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                return ctx.step("pay", () -> {
                    if (broken.get()) {
                        throw new TerminalException("The bank is closed");
                    }
                    return in;
                });
            } catch (RuntimeException failed) {
                if (in.equals("compensates")) {
                    ctx.step("undo", () -> in);
                }
                throw failed;
            }
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> simple = perdure.start(Invocation.of(flow, "simple"), id("simple"));
            Run<String> compensated = perdure.start(Invocation.of(flow, "compensates"), id("compensated"));
            perdure.settle();
            broken.set(false);
            RunFilter failed = RunFilter.all().definition("flow").state(RunState.FAILED);

            BulkReport report = perdure.runs(failed).start(BulkAction.retry()).result();

            assertThat(report.toString()).isEqualTo("1 changed, 0 skipped, 1 refused");
            assertThat(report.refusals()).singleElement().satisfies(refusal -> {
                assertThat(refusal.run()).isEqualTo(compensated.id());
                assertThat(refusal.reason()).contains("STEP 'undo'", "was recorded after the failure", "begin anew");
            });
            assertThat(simple.result()).isEqualTo("simple");
            assertThatThrownBy(compensated::result).isInstanceOf(RunFailedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_that_have_ended_are_deleted_with_all_that_belongs_to_them(TestMode mode) {
        Definition<String, String> child = workflow("child", (ctx, in) -> in);
        Definition<String, String> parent = workflow("parent", (ctx, in) -> ctx.call(Invocation.of(child, in)));
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER, parent, child);
            sleepers(perdure, "a", 1);
            Run<String> whole = perdure.start(Invocation.of(parent, "x"), id("whole"));
            assertThat(whole.result()).isEqualTo("x");
            perdure.settle();

            BulkReport children = perdure.runs(RunFilter.all().definition("child"))
                    .start(BulkAction.delete())
                    .result();
            assertThat(children.refusals())
                    .extracting(BulkReport.Refusal::reason)
                    .singleElement()
                    .asString()
                    .endsWith("belongs to the run 'whole', and goes with it. Delete that one.");
            assertThat(perdure.runs(RunFilter.all().definition("parent"))
                            .start(BulkAction.delete())
                            .result())
                    .isEqualTo(changed(1));
            assertThat(perdure.runs(RunFilter.all().definition("child")).count())
                    .isEmpty();
            assertThat(perdure.audit().list(AuditFilter.run("whole")))
                    .extracting(AuditEntry::action)
                    .containsExactly(AuditEntry.Action.DELETE);
            assertThatThrownBy(whole::result).isInstanceOf(UnknownRunException.class);
            assertThat(perdure.start(Invocation.of(parent, "y"), id("whole")).result())
                    .isEqualTo("y");
            assertThat(perdure.runs(SLEEPERS).start(BulkAction.delete()).result())
                    .isEqualTo(BulkReport.NOTHING);
        }
    }

    @ParameterizedTest
    @MethodSource("everyCommitInEveryMode")
    void a_crash_at_any_commit_deletes_and_counts_each_run_once(TestMode mode, int commit, boolean before) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            sleepers(perdure, "a", 110).forEach(run -> run.kill("no"));
            perdure.settle();
            if (before) {
                perdure.crashBeforeCommit(commit);
            } else {
                perdure.crashAfterCommit(commit);
            }

            assertThat(perdure.runs(SLEEPERS).start(BulkAction.delete()).result())
                    .isEqualTo(changed(110));
            assertThat(perdure.runs(SLEEPERS).list()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_are_moved_to_another_queue_and_paused_ones_to_another_version(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            List<Run<String>> runs = sleepers(perdure, "a", 4);
            perdure.settle();
            runs.getFirst().pause("old code");

            assertThat(perdure.runs(SLEEPERS)
                            .start(BulkAction.moveToQueue("elsewhere"))
                            .result())
                    .isEqualTo(changed(4));
            assertThat(perdure.runs(RunFilter.all().queue("elsewhere")).list()).hasSize(4);
            assertThat(perdure.runs(SLEEPERS)
                            .start(BulkAction.moveToQueue("elsewhere"))
                            .result())
                    .isEqualTo(new BulkReport(0, 4, 0, List.of()));

            BulkReport report =
                    perdure.runs(SLEEPERS).start(BulkAction.moveToVersion("v2")).result();
            assertThat(report.toString()).isEqualTo("1 changed, 0 skipped, 3 refused");
            assertThat(report.refusals().getFirst().reason())
                    .isEqualTo("The run 'a1' has begun under its version. Pause it, move it, and resume it.");
            assertThat(perdure.runs(RunFilter.all().version("v2")).list())
                    .extracting(RunInfo::id)
                    .containsExactly(RunId.of("a0"));
            // Entries of one instant have no order.
            assertThat(perdure.audit().list(AuditFilter.run("a0")))
                    .extracting(AuditEntry::action)
                    .contains(AuditEntry.Action.MOVE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_dry_run_counts_and_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            List<Run<String>> runs = sleepers(perdure, "a", 4);
            perdure.settle();
            runs.getFirst().pause("look at it");
            runs.get(1).kill("no");

            assertThat(perdure.runs(SLEEPERS).dryRun(BulkAction.cancel("no")))
                    .isEqualTo(Map.of(
                            RunState.PAUSED, new RunCount(1, false), RunState.SUSPENDED, new RunCount(2, false)));
            assertThat(perdure.runs(SLEEPERS).dryRun(BulkAction.retry())).isEqualTo(exactly(RunState.CANCELLED, 1));
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(4);
            assertThat(runs.get(2).state()).isEqualTo(RunState.SUSPENDED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_that_are_started_or_end_after_the_beginning_are_left_alone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            List<Run<String>> old = sleepers(perdure, "old", 3);
            perdure.settle();
            old.forEach(run -> run.pause("wait"));
            perdure.crashAll();
            perdure.advance(Duration.ofSeconds(1));
            Run<BulkReport> resumes = perdure.runs(SLEEPERS).start(BulkAction.resume());
            Run<BulkReport> cancels = perdure.runs(SLEEPERS.idPrefix("new")).start(BulkAction.cancel("no"));
            assertThat(resumes.state()).isEqualTo(RunState.READY);
            perdure.advance(Duration.ofSeconds(1));
            old.getFirst().resume();
            old.getFirst().pause("once more");
            Run<String> late = sleepers(perdure, "new", 1).getFirst();
            perdure.startWorker();

            assertThat(resumes.result()).isEqualTo(changed(2));
            assertThat(cancels.result()).isEqualTo(BulkReport.NOTHING);
            perdure.settle();
            assertThat(old.getFirst().state()).isEqualTo(RunState.PAUSED);
            assertThat(old.getLast().state()).isEqualTo(RunState.SUSPENDED);
            assertThat(late.state()).isEqualTo(RunState.SUSPENDED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_bulk_action_is_paused_resumed_and_cancelled_like_any_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            sleepers(perdure, "a", 2);
            perdure.settle();
            perdure.crashAll();
            Run<BulkReport> paused = perdure.runs(SLEEPERS.idPrefix("a0")).start(BulkAction.cancel("no"));
            Run<BulkReport> cancelled = perdure.runs(SLEEPERS.idPrefix("a1")).start(BulkAction.cancel("no"));
            paused.pause("think again");
            cancelled.cancel("not this one");
            perdure.startWorker();
            perdure.settle();
            assertThat(perdure.runs(SLEEPERS).count()).isEqualTo(exactly(RunState.SUSPENDED, 2));
            assertThat(cancelled.state()).isEqualTo(RunState.CANCELLED);

            paused.resume();
            assertThat(paused.result()).isEqualTo(changed(1));
            assertThat(perdure.run(RunId.of("a1"), TypeRef.of(String.class)).state())
                    .isEqualTo(RunState.SUSPENDED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void schedules_and_bulk_actions_are_left_alone_unless_the_filter_names_them(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            perdure.schedules()
                    .put(Schedule.of("nightly", Times.every(Duration.ofDays(1)), Invocation.of(SLEEPER, "x")));
            perdure.settle();
            RunFilter schedules = RunFilter.all().definition("perdure.schedule");

            assertThat(perdure.runs(RunFilter.all()).dryRun(BulkAction.kill("all")))
                    .isEmpty();
            Run<BulkReport> kill = perdure.runs(RunFilter.all()).start(BulkAction.kill("all"));
            assertThat(kill.result()).isEqualTo(BulkReport.NOTHING);
            assertThat(kill.info().description().status())
                    .contains("kill: 0 of about 0 runs: 0 changed, 0 skipped, 0 refused");
            assertThat(perdure.runs(schedules).dryRun(BulkAction.moveToQueue("other")))
                    .isEmpty();
            assertThat(perdure.runs(schedules).dryRun(BulkAction.pause("holidays")))
                    .isEqualTo(exactly(RunState.SUSPENDED, 1));
            assertThat(perdure.runs(schedules)
                            .start(BulkAction.pause("holidays"))
                            .result())
                    .isEqualTo(changed(1));
            assertThat(perdure.run(RunId.of("schedule:nightly"), TypeRef.of(Void.class))
                            .state())
                    .isEqualTo(RunState.PAUSED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_action_that_cannot_apply_to_what_the_filter_selects_is_refused_before_it_starts(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);

            assertThatThrownBy(() ->
                            perdure.runs(SLEEPERS.state(RunState.COMPLETED)).start(BulkAction.retry()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The bulk action RETRY is for runs in the states [FAILED, CANCELLED]; the filter selects only [COMPLETED]. Name one of these states, or leave the states out.");
            assertThatThrownBy(
                            () -> perdure.runs(SLEEPERS.state(RunState.FAILED)).dryRun(BulkAction.pause("no")))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> BulkAction.cancel("x".repeat(1_001))).isInstanceOf(InvalidRequestException.class);
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
        }
    }

    static Stream<Arguments> everyCommitInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> IntStream.range(0, 8)
                        .boxed()
                        .flatMap(commit -> Stream.of(true, false).map(before -> Arguments.of(mode, commit, before))));
    }

    @ParameterizedTest
    @MethodSource("everyCommitInEveryMode")
    void a_crash_at_any_commit_changes_no_run_twice_and_the_count_is_right(TestMode mode, int commit, boolean before) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            sleepers(perdure, "a", 110);
            perdure.settle();
            if (before) {
                perdure.crashBeforeCommit(commit);
            } else {
                perdure.crashAfterCommit(commit);
            }

            Run<BulkReport> bulk =
                    perdure.runs(SLEEPERS.state(RunState.SUSPENDED)).start(BulkAction.kill("no"));

            assertThat(bulk.result()).isEqualTo(changed(110));
            assertThat(perdure.runs(SLEEPERS).count()).isEqualTo(exactly(RunState.CANCELLED, 110));
            assertThat(perdure.audit().list(AuditFilter.all().limit(1_000))).hasSize(110);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_history_of_a_bulk_action_is_no_history_of_the_users_code(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(SLEEPER);
            sleepers(perdure, "a", 1);
            perdure.settle();
            Run<BulkReport> bulk = perdure.runs(SLEEPERS).start(BulkAction.kill("no longer needed"));
            assertThat(bulk.result()).isEqualTo(changed(1));
            perdure.check(List.of(bulk.export()));
        }
    }
}
