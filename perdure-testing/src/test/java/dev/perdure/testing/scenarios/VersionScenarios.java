package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.bulk.BulkAction;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownVersionException;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.version.VersionInfo.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that stay with the version of the code that began them, and versions that drain. */
abstract class VersionScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);

    /** A parcel that waits for a day and tells which code has sent it. */
    private static Definition<String, String> parcel(String version) {
        return workflow("parcel", (ctx, in) -> {
                    ctx.step("pack", () -> {});
                    ctx.sleep(DAY);
                    return in + " by " + version;
                })
                .pinned();
    }

    /** The same, whose runs move. */
    private static Definition<String, String> letter(String version) {
        return workflow("letter", (ctx, in) -> {
            ctx.sleep(DAY);
            return in + " by " + version;
        });
    }

    private static PerdureTest withCode(PerdureTest perdure, String version, Object... code) {
        return perdure.version(version).register(code);
    }

    private static Run<String> sent(PerdureTest perdure, String run) {
        return perdure.start(Invocation.of(parcel("any"), run), id(run));
    }

    private static State state(PerdureTest perdure, String version) {
        return perdure.versions().get(version).state();
    }

    /** The workers notice what they are told when they renew their leases, and report it at the renewal after that. */
    private static void settleDrains(PerdureTest perdure) {
        perdure.settle();
        perdure.settle();
        perdure.settle();
    }

    private static List<String> pinnedTo(PerdureTest perdure, String version) {
        return perdure.runs(RunFilter.all().version(version)).list().stream()
                .map(RunInfo::id)
                .map(Object::toString)
                .sorted()
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_pinned_run_stays_with_the_version_that_began_it_beside_a_newer_one(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"));
            Run<String> old = sent(perdure, "p-1");
            perdure.settle();
            perdure.version("v2").deployBeside(parcel("v2"));

            assertThat(pinnedTo(perdure, "v1")).containsExactly("p-1");
            assertThat(old.result()).isEqualTo("p-1 by v1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pinned_run_waits_for_its_version_and_any_other_moves(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"), letter("v1"));
            Run<String> pinned = sent(perdure, "p-1");
            Run<String> moving = perdure.start(Invocation.of(letter("v1"), "l-1"), id("l-1"));
            perdure.settle();
            perdure.version("v2").deploy(parcel("v2"), letter("v2"));

            assertThat(moving.result()).isEqualTo("l-1 by v2");
            perdure.settle();
            assertThat(pinned.info().reason()).contains("No live worker has the definition 'parcel' in version 'v1'.");
            assertThat(state(perdure, "v1")).isEqualTo(State.NO_WORKER);
            perdure.version("v1").deployBeside(parcel("v1"));
            assertThat(pinned.result()).isEqualTo("p-1 by v1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_is_pinned_by_the_worker_that_begins_it_whoever_starts_it(TestMode mode) {
        Schedule nightly = Schedule.of("nightly", Times.every(DAY), Invocation.of(parcel("v1"), "night"));
        Definition<String, String> starter = workflow("starter", (ctx, in) -> {
            ctx.spawn(Invocation.of(parcel("any"), in), id("spawned"));
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"), starter).schedules(nightly);
            perdure.client().start(Invocation.of(parcel("any"), "x"), id("by client"));
            perdure.start(Invocation.of(parcel("any"), "x"), id("delayed").delay(Duration.ofHours(1)));
            perdure.start(Invocation.of(starter, "x"), id("starter"));
            perdure.settle();
            assertThat(pinnedTo(perdure, "v1")).containsExactly("by client", "spawned");
            perdure.advance(DAY.plusHours(2));

            assertThat(pinnedTo(perdure, "v1")).hasSize(4).contains("by client", "delayed", "spawned");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_a_reaction_starts_is_pinned_by_the_worker_that_begins_it(TestMode mode) {
        Definition<RunEvent, Void> alert = Definition.of("alert", RunEvent.class, (ctx, event) -> ctx.sleep(DAY))
                .pinned();
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", letter("v1"), alert)
                    .reactions(Reaction.named("alert")
                            .of("letter")
                            .when(Occasion.CANCELLED)
                            .start(alert));
            perdure.start(Invocation.of(letter("v1"), "l-1"), id("l-1")).kill("enough");
            perdure.settle();

            assertThat(perdure.versions().get("v1").runs()).isEqualTo(1);
            assertThat(pinnedTo(perdure, "v1")).singleElement().asString().startsWith("reaction:alert:l-1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pinned_child_has_the_version_of_its_pinned_parent(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"), letter("v1"), orders("v1"));
            Run<String> run = perdure.start(Invocation.of(orders("v1"), "o"), id("order"));
            perdure.settle();
            perdure.version("v2").deployBeside(parcel("v2"), letter("v2"), orders("v2"));
            perdure.versions().drain("v1");
            settleDrains(perdure);

            assertThat(run.result()).isEqualTo("child by v1, letter by v2, order by v1");
            assertThat(pinnedTo(perdure, "v1")).containsExactly("child", "order");
        }
    }

    private static Definition<String, String> orders(String version) {
        return workflow("orders", (ctx, in) -> {
                    ctx.sleep(DAY);
                    String pinned = ctx.<String>startChild(
                                    Invocation.of(parcel("any"), "child"), ChildOptions.childId("child"))
                            .await();
                    String moving = ctx.<String>startChild(
                                    Invocation.of(letter("any"), "letter"), ChildOptions.childId("letter"))
                            .await();
                    return pinned + ", " + moving + ", order by " + version;
                })
                .pinned();
    }

    @ParameterizedTest
    @EnumSource
    void a_version_that_drains_ends_its_runs_and_leaves_new_ones_to_others(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"), letter("v1"));
            Run<String> old = sent(perdure, "p-1");
            Run<String> moving = perdure.start(Invocation.of(letter("v1"), "l-1"), id("l-1"));
            perdure.settle();
            perdure.version("v2").deployBeside(parcel("v2"), letter("v2"));
            perdure.versions().drain("v1");
            settleDrains(perdure);
            assertThat(state(perdure, "v1")).isEqualTo(State.DRAINING);

            Run<String> fresh = sent(perdure, "p-2");
            assertThat(fresh.result()).isEqualTo("p-2 by v2");
            assertThat(moving.result()).isEqualTo("l-1 by v2");
            assertThat(old.result()).isEqualTo("p-1 by v1");
            settleDrains(perdure);
            assertThat(state(perdure, "v1")).isEqualTo(State.DRAINED);
            assertThat(state(perdure, "v2")).isEqualTo(State.ACTIVE);
            assertThat(perdure.audit().list(AuditFilter.all()))
                    .extracting(AuditEntry::text)
                    .containsExactly("DRAIN version 'v1' by test");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_of_a_worker_that_drains_loses_no_run_and_takes_no_new_one(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"));
            Run<String> old = sent(perdure, "p-1");
            perdure.settle();
            perdure.versions().drain("v1");
            settleDrains(perdure);
            perdure.crashAll();
            perdure.startWorker();
            Run<String> fresh = sent(perdure, "p-2");
            settleDrains(perdure);
            assertThat(fresh.info().reason()).contains("Every live worker that has the definition 'parcel' drains.");

            perdure.version("v2").deployBeside(parcel("v2"));
            assertThat(fresh.result()).isEqualTo("p-2 by v2");
            assertThat(old.result()).isEqualTo("p-1 by v1");
            settleDrains(perdure);
            assertThat(state(perdure, "v1")).isEqualTo(State.DRAINED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_version_drains_one_definition_and_is_resumed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"), letter("v1"));
            perdure.client();
            perdure.versions().drain("v1", "parcel");
            settleDrains(perdure);
            Run<String> held = sent(perdure, "p-1");
            Run<String> taken = perdure.start(Invocation.of(letter("v1"), "l-1"));

            assertThat(taken.result()).isEqualTo("l-1 by v1");
            assertThat(held.state()).isEqualTo(RunState.READY);
            assertThat(state(perdure, "v1")).isEqualTo(State.ACTIVE);
            perdure.versions().resume("v1", "parcel");
            settleDrains(perdure);
            assertThat(held.result()).isEqualTo("p-1 by v1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_continues_as_new_leaves_a_version_that_drains_and_no_other(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", rounds("v1"));
            Run<String> run = perdure.start(Invocation.of(rounds("v1"), ""), id("rounds"));
            perdure.settle();
            perdure.version("v2").deployBeside(rounds("v2"));
            perdure.advance(DAY); // a first round
            assertThat(pinnedTo(perdure, "v1")).containsExactly("rounds");
            perdure.versions().drain("v1");
            settleDrains(perdure);

            assertThat(run.result()).isEqualTo("v1 v1 v2 ");
            assertThat(pinnedTo(perdure, "v2")).containsExactly("rounds");
            settleDrains(perdure);
            assertThat(state(perdure, "v1")).isEqualTo(State.DRAINED);
        }
    }

    @ParameterizedTest
    @CsvSource({"0,true", "0,false", "1,true", "1,false", "2,true", "2,false"})
    void a_run_leaves_a_version_that_drains_once_wherever_a_worker_crashes(int commit, boolean before) {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            withCode(perdure, "v1", rounds("v1"));
            Run<String> run = perdure.start(Invocation.of(rounds("v1"), "v0 "), id("rounds"));
            perdure.settle();
            perdure.version("v2").deployBeside(rounds("v2"));
            perdure.versions().drain("v1");
            settleDrains(perdure);
            if (before) {
                perdure.crashBeforeCommit(commit);
            } else {
                perdure.crashAfterCommit(commit);
            }

            assertThat(run.result()).isEqualTo("v0 v1 v2 ");
            assertThat(pinnedTo(perdure, "v2")).containsExactly("rounds");
        }
    }

    /** Three rounds of a day each, every one of which adds the version of its code. */
    private static Definition<String, String> rounds(String version) {
        return workflow("rounds", (ctx, in) -> {
                    ctx.sleep(DAY);
                    String done = in + version + " ";
                    if (done.length() < 9) {
                        throw ctx.continueAsNew(done);
                    }
                    return done;
                })
                .pinned();
    }

    @ParameterizedTest
    @EnumSource
    void a_retried_run_stays_with_its_version_and_a_forked_one_does_not(TestMode mode) {
        AtomicBoolean broken = new AtomicBoolean(true);
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", fragile("v1", broken));
            Run<String> run = perdure.start(Invocation.of(fragile("v1", broken), "x"), id("fragile"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            perdure.version("v2").deployBeside(fragile("v2", broken));
            perdure.versions().drain("v1");
            settleDrains(perdure);
            broken.set(false);
            run.retry();

            assertThat(run.result()).isEqualTo("v1");
            assertThat(run.fork(ForkOptions.from(2)).result()).isEqualTo("v2");
        }
    }

    private static Definition<String, String> fragile(String version, AtomicBoolean broken) {
        return workflow("fragile", (ctx, in) -> {
                    ctx.step("first", () -> {});
                    ctx.step("second", () -> {
                        if (broken.get()) {
                            throw new TerminalException("broken");
                        }
                    });
                    return version;
                })
                .pinned();
    }

    @ParameterizedTest
    @EnumSource
    void paused_runs_move_to_another_version_as_a_bulk_action(TestMode mode) {
        RunFilter old = RunFilter.all().definition("parcel").version("v1");
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"));
            Run<String> run = sent(perdure, "p-1");
            perdure.settle();
            perdure.version("v2").deployBeside(parcel("v2"));
            perdure.versions().drain("v1");
            settleDrains(perdure);

            perdure.runs(old).start(BulkAction.pause("moves to v2")).result();
            perdure.runs(old.state(RunState.PAUSED))
                    .start(BulkAction.moveToVersion("v2"))
                    .result();
            settleDrains(perdure);
            assertThat(state(perdure, "v1")).isEqualTo(State.DRAINED);
            perdure.runs(RunFilter.all().version("v2").state(RunState.PAUSED))
                    .start(BulkAction.resume())
                    .result();
            assertThat(run.result()).isEqualTo("p-1 by v2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_explicit_version_comes_before_that_of_the_worker(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1"));
            Run<String> run = perdure.start(
                    Invocation.of(parcel("v1"), "p-1"), StartOptions.id("p-1").version("v2"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.READY);
            perdure.version("v2").deployBeside(parcel("v2"));
            assertThat(run.result()).isEqualTo("p-1 by v2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_version_or_definition_that_there_is_not_cannot_be_drained(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            withCode(perdure, "v1", parcel("v1")).client();
            assertThatThrownBy(() -> perdure.versions().drain("v9"))
                    .isInstanceOf(UnknownVersionException.class)
                    .hasMessage(
                            "There is no version 'v9': no live worker has it, and no live run is pinned to it. Check the name, or list the versions.");
            assertThatThrownBy(() -> perdure.versions().drain("v1", "letter"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The version 'v1' has no definition 'letter': no live worker of it has registered it, and no live run of it is pinned to it. Check the name.");
            assertThatThrownBy(() -> perdure.versions().drain(""))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("The version is empty. Give it a non-empty text.");
            assertThat(state(perdure, "v1")).isEqualTo(State.ACTIVE);
        }
    }
}
