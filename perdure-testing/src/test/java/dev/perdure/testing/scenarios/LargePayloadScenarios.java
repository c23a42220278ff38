package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.History;
import dev.perdure.Invocation;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.Outputs;
import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.StoreException;
import dev.perdure.retention.Retention;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Values that are too large for a journal. */
abstract class LargePayloadScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int INLINE = 1_000;
    private static final Topic<String> TOPIC = Topic.of("topic", String.class);

    private WatchedPayloads payloads;

    private PerdureTest engine(TestMode mode) {
        return create(mode).maxInlineBytes(INLINE).payloadStore(direct -> payloads = new WatchedPayloads(direct));
    }

    /** A text that is too large, and differs from those of other seeds. */
    private static String large(String seed) {
        return seed + "-" + "x".repeat(3 * INLINE);
    }

    /** Lets everything go to which nothing refers. */
    private static void sweep(PerdureTest perdure) {
        perdure.removeOldRuns();
        perdure.advance(HOUR);
        perdure.removeOldRuns();
    }

    @ParameterizedTest
    @EnumSource
    void large_values_travel_like_small_ones(TestMode mode) {
        Definition<String, String> part = workflow("part", (ctx, in) -> in + "|part");
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String made = ctx.step("make", () -> in + "|made");
            ctx.publish(TOPIC, made);
            String told = ctx.receive(TOPIC).await();
            return ctx.startChild(Invocation.of(part, made + "|" + told)).await();
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow, part);
            Run<String> run = perdure.start(Invocation.of(flow, large("in")), id("run"));
            run.send(TOPIC, large("told"));
            String made = large("in") + "|made";
            assertThat(run.result()).isEqualTo(made + "|" + large("told") + "|part");
            assertThat(run.published(TOPIC)).contains(made);
            assertThat(payloads.all())
                    .as("input, step, message, input and result of the child")
                    .hasSize(5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_small_value_stays_in_the_journal(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> ctx.step("make", () -> "y".repeat(INLINE - 2)));
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).hasSize(INLINE - 2);
            assertThat(payloads.all()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_state_of_an_object_may_be_large(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(new Log());
            log(perdure, "a").call(Log::append, large("one"));
            assertThat(log(perdure, "a").call(Log::append, large("two"))).isEqualTo(2);
            assertThat(log(perdure, "a").state().get(Log.LINES)).hasValue(List.of(large("one"), large("two")));
            log(perdure, "a").edit(state -> state.set(Log.NOTE, large("edited")));
            assertThat(log(perdure, "a").call(Log::note)).hasValue(large("edited"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_outputs_of_all_leaves_of_a_dag_may_be_large(TestMode mode) {
        Dag<String, Outputs> dag = Dag.ofLeaves("parts", String.class, builder -> {
            builder.task("a", t -> large("a"));
            builder.task("b", t -> large("b"));
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(dag);
            DagRun<Outputs> run = perdure.start(dag, "x");
            Outputs outputs = run.result();
            assertThat(outputs.get("a", TypeRef.of(String.class))).isEqualTo(large("a"));
            assertThat(outputs.get("b", TypeRef.of(String.class))).isEqualTo(large("b"));
            perdure.check(List.of(run.export()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_start_with_the_same_large_input_finds_the_run(TestMode mode) {
        Definition<String, Integer> flow = Definition.of("flow", String.class, Integer.class, (ctx, in) -> in.length());
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            Run<Integer> first = perdure.start(Invocation.of(flow, large("a")), id("run"));
            assertThat(perdure.start(Invocation.of(flow, large("a")), id("run")).result())
                    .isEqualTo(first.result());
            assertThatThrownBy(() -> perdure.start(Invocation.of(flow, large("b")), id("run")))
                    .isInstanceOf(RunConflictException.class);
        }
    }

    /** What a set returns in another process may have another order. */
    @ParameterizedTest
    @EnumSource
    void a_child_with_a_large_set_is_recognised_whatever_its_order(TestMode mode) {
        Definition<Set<Integer>, Integer> part =
                Definition.of("part", new TypeRef<>() {}, TypeRef.of(Integer.class), (ctx, in) -> {
                    ctx.sleep(HOUR);
                    return in.size();
                });
        AtomicInteger entered = new AtomicInteger();
        Definition<String, Integer> flow = Definition.of("flow", String.class, Integer.class, (ctx, in) -> {
            List<Integer> numbers = IntStream.range(0, 2_000).boxed().toList();
            boolean first = entered.getAndIncrement() % 2 == 0;
            Set<Integer> all = new LinkedHashSet<>(first ? numbers : numbers.reversed());
            return ctx.startChild(Invocation.of(part, all)).await();
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow, part);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo(2_000);
            assertThat(entered).hasValueGreaterThan(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_value_over_the_limit_is_refused_and_nothing_of_it_is_written(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                return ctx.step("fetch", () -> "x".repeat(20_000));
            } catch (StepFailedException failed) {
                return failed.attempts() + ": " + failed.getCause().getMessage();
            }
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow).maxPayloadBytes(10_000);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .startsWith("1: ")
                    .contains("it has 20002 bytes and the limit is 10000.");
            assertThat(payloads.all()).noneMatch(payload -> payload.size() > 10_000);
        }
    }

    @Test
    void the_input_of_a_fork_has_the_limit_too() {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(flow).maxPayloadBytes(10_000);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result()).isEqualTo("x");
            assertThatThrownBy(() -> run.fork(ForkOptions.from(1).id("fork").input("x".repeat(20_000))))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("The input of the fork")
                    .hasMessageContaining("it has 20002 bytes and the limit is 10000.");
            assertThat(payloads.all()).isEmpty();
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_between_payload_and_commit_leaves_nothing_behind(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, Integer> flow = Definition.of(
                "flow",
                String.class,
                Integer.class,
                (ctx, in) -> ctx.step("make", () -> large("attempt " + bodies.incrementAndGet()))
                        .length());
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            perdure.crashBeforeNextCommit();
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .isEqualTo(large("attempt 2").length());
            assertThat(payloads.all()).as("one of them an orphan").hasSize(2);
            perdure.removeOldRuns();
            perdure.advance(HOUR.minusMinutes(1));
            perdure.removeOldRuns();
            assertThat(payloads.all()).as("its commit may still be on its way").hasSize(2);
            perdure.advance(Duration.ofMinutes(1));
            perdure.removeOldRuns();
            assertThat(payloads.all()).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void payloads_go_with_their_run_and_not_before(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> ctx.step("make", () -> in + "|made"));
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow).retention(Retention.of(Duration.ofDays(1)));
            Run<String> run = perdure.start(Invocation.of(flow, large("in")), id("run"));
            assertThat(run.result()).endsWith("|made");
            sweep(perdure);
            sweep(perdure);
            assertThat(run.result()).endsWith("|made");
            assertThat(payloads.all()).hasSize(2);
            perdure.advance(Duration.ofDays(1));
            sweep(perdure);
            assertThat(payloads.all()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_keeps_the_payloads_that_it_has_copied(TestMode mode) {
        Definition<String, Integer> flow = Definition.of("flow", String.class, Integer.class, (ctx, in) -> {
            String made = ctx.step("make", () -> large("made"));
            ctx.sleep(Duration.ofDays(3));
            return ctx.step("measure", () -> made.length());
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow).retention(Retention.of(Duration.ofDays(1)));
            Run<Integer> run = perdure.start(Invocation.of(flow, "x"), id("run"));
            run.result();
            Run<Integer> fork = run.fork(ForkOptions.from(2).id("fork"));
            perdure.advance(Duration.ofDays(1));
            sweep(perdure);
            assertThat(perdure.runs(RunFilter.all()).list())
                    .extracting(info -> info.id().value())
                    .containsExactly("fork");
            perdure.crash();
            assertThat(fork.result()).isEqualTo(large("made").length());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_waits_while_the_payload_store_is_out_of_reach(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            String made = ctx.step("make", () -> {
                payloads.refuse(1);
                return large("body " + bodies.incrementAndGet());
            });
            ctx.sleep(HOUR);
            return made;
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(payloads.refused()).isOne();
            payloads.refuse(1);
            assertThat(run.result()).isEqualTo(large("body 1"));
            assertThat(payloads.refused()).isEqualTo(2);
            assertThat(bodies).hasValue(1);
        }
    }

    @Test
    void a_start_with_a_large_input_fails_while_the_payload_store_is_out_of_reach() {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> "done");
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(flow);
            payloads.refuse(1);
            assertThatThrownBy(() -> perdure.start(Invocation.of(flow, large("x")), id("run")))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("The payloads are out of reach.");
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
            assertThat(perdure.start(Invocation.of(flow, large("x")), id("run")).result())
                    .isEqualTo("done");
        }
    }

    @Test
    void a_payload_that_is_missing_pauses_the_run_that_needs_it_and_says_where() {
        Definition<String, Integer> flow = Definition.of("flow", String.class, Integer.class, (ctx, in) -> {
            String made = ctx.step("make", () -> large("made"));
            ctx.sleep(HOUR);
            return made.length();
        });
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, "x"), id("run"));
            perdure.settle();
            payloads.forget(true);
            perdure.advance(HOUR);
            String hash = payloads.all().getFirst().hash();
            assertThat(run.info().state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason())
                    .hasValue(
                            "What run 'run' recorded at position 1 for step 'make' cannot be read back. The payload %s of %d bytes is not in the payload store. Restore it, or use the payload store to which it was written. Nothing was applied. Bring it back, then resume the run."
                                    .formatted(hash, large("made").length() + 2));
            payloads.forget(false);
            run.resume();
            assertThat(run.result()).isEqualTo(large("made").length());
        }
    }

    @Test
    void a_caller_that_asks_for_a_missing_result_is_told_which_one() {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> large("result"));
        try (PerdureTest perdure = engine(TestMode.NORMAL)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("run"));
            run.result();
            payloads.forget(true);
            assertThatThrownBy(run::result)
                    .isInstanceOf(MissingPayloadException.class)
                    .hasMessageContaining("run 'run'")
                    .hasMessageContaining("is not in the payload store.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_history_has_large_values_in_place_and_is_replayed_without_a_payload_store(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> ctx.step("make", () -> in + "|made"));
        History history;
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, large("in")), id("run"));
            run.result();
            history = run.export();
        }
        try (PerdureTest other = engine(mode)) {
            other.register(flow).check(List.of(history));
            assertThat(payloads.all()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_replay_does_not_write_again_what_is_there(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.publish(TOPIC, large("published"));
            ctx.sleep(HOUR);
            ctx.sleep(HOUR);
            return "done";
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("done");
            assertThat(payloads.writes()).isOne();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_result_that_is_repaired_may_be_large(TestMode mode) {
        Definition<String, Integer> flow = Definition.of("flow", String.class, Integer.class, (ctx, in) -> {
            String made = ctx.step("make", () -> "small");
            ctx.sleep(HOUR);
            return made.length();
        });
        try (PerdureTest perdure = engine(mode)) {
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, "x"), id("run"));
            perdure.settle();
            run.pause("to repair it");
            perdure.settle();
            run.repair(Repair.result(1, large("repaired"), "it was wrong"));
            run.resume();
            assertThat(run.result()).isEqualTo(large("repaired").length());
        }
    }
}
