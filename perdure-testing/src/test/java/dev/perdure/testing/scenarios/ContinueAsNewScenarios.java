package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.Dag;
import dev.perdure.error.CancelledException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ContinueAsNewScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    @ParameterizedTest
    @EnumSource
    void a_loop_without_end_keeps_its_id_and_drops_its_journal(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Set<String> ids = ConcurrentHashMap.newKeySet();
            Definition<Integer, String> flow = Definition.of("loop", Integer.class, String.class, (ctx, round) -> {
                ids.add(ctx.runId() + " " + round + " " + ctx.uuid());
                ctx.step("work", bodies::incrementAndGet);
                ctx.sleep(HOUR);
                if (round < 20) {
                    throw ctx.continueAsNew(round + 1);
                }
                return round + " at " + ctx.now();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, 1), id("endless"));
            perdure.advance(HOUR.multipliedBy(3).plusMinutes(30));
            perdure.crash();
            assertThat(run.result()).isEqualTo("20 at 2030-01-01T20:00:00Z");
            assertThat(bodies).hasValue(20);
            // A new life generates other ids.
            assertThat(ids).hasSize(20);
            assertThat(run.history().stream()
                            .filter(event -> event.position() > 0)
                            .map(HistoryEvent::text))
                    .containsExactly("step 'work' completed", "sleep of PT1H began", "time read");
        }
    }

    public static final class Counting {
        @Workflow("counting")
        public String count(WorkflowContext ctx, Integer round) {
            if (round < 3) {
                throw ctx.continueAsNew(Invocation.of(Counting::count, round + 1));
            }
            try {
                throw ctx.continueAsNew(Invocation.of("other", 1, TypeRef.of(String.class)));
            } catch (InvalidRequestException refused) {
                return round + ": " + refused.getMessage();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_compiler_checks_the_input_of_an_invocation_of_the_same_workflow(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Counting());
            assertThat(perdure.start(Counting::count, 1, id("c")).result())
                    .isEqualTo(
                            "3: Run 'c' of 'counting' cannot continue as 'other': a run continues as new only with the workflow that it is. Give an invocation of 'counting', or spawn a run of 'other' and return.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void messages_that_were_not_received_wait_for_the_next_round(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("inbox", (ctx, read) -> {
                String next = ctx.receive(NEWS).await();
                if (next.equals("stop")) {
                    return read;
                }
                throw ctx.continueAsNew(read + next);
            });
            perdure.register(flow);
            Run<String> run = perdure.start(
                    Invocation.of(flow, ""), id("inbox").message(NEWS, "a").message(NEWS, "b"));
            List.of("c", "d", "e").forEach(each -> run.send(NEWS, each));
            perdure.settle();
            perdure.crash();
            List.of("f", "stop").forEach(each -> run.send(NEWS, each));
            assertThat(run.result()).isEqualTo("abcdef");
        }
    }

    @ParameterizedTest
    @EnumSource
    void promises_and_the_deadline_stay_and_tokens_do_not(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> tokens = new CopyOnWriteArrayList<>();
            Definition<Integer, String> flow = Definition.of("keeper", Integer.class, String.class, (ctx, round) -> {
                var awakeable = ctx.awakeable(String.class);
                ctx.step("hand out", () -> tokens.add(awakeable.token()));
                if (round == 1) {
                    ctx.promise(NEWS).await();
                    throw ctx.continueAsNew(2);
                }
                return ctx.promise(NEWS).await() + awakeable.await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, 1), id("keeper").timeout(HOUR));
            perdure.settle();
            run.promise(NEWS).resolve("kept ");
            perdure.settle();
            assertThat(tokens).doesNotHaveDuplicates().hasSize(2);
            assertThatThrownBy(() -> perdure.resolve(tokens.getFirst(), "old"))
                    .isInstanceOf(UnknownTokenException.class)
                    .hasMessageContaining("its run has begun anew or is gone");
            perdure.resolve(tokens.getLast(), "new");
            assertThat(run.result()).isEqualTo("kept new");

            Run<String> late = perdure.start(Invocation.of(flow, 1), id("late").timeout(HOUR));
            perdure.advance(Duration.ofMinutes(30));
            late.promise(NEWS).resolve("kept ");
            assertThatThrownBy(late::result).hasMessageContaining("has passed its deadline 2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_round_has_children_of_its_own(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> child = workflow("child", (ctx, in) -> in + "!");
            Definition<String, String> flow = workflow("family", (ctx, in) -> {
                String got = ctx.call(Invocation.of(child, in));
                if (got.length() < 5) {
                    throw ctx.continueAsNew(got);
                }
                return got;
            });
            perdure.register(flow, child);
            assertThat(perdure.start(Invocation.of(flow, ""), id("family")).result())
                    .isEqualTo("!!!!!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_of_an_earlier_round_answers_no_later_one(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> child = workflow("child", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            Definition<Integer, String> flow = Definition.of("family", Integer.class, String.class, (ctx, round) -> {
                if (round == 1) {
                    ctx.startChild(Invocation.of(child, "forgotten"));
                    throw ctx.continueAsNew(2);
                }
                // At the same position as in the life before.
                return ctx.awakeable(String.class)
                        .orTimeout(HOUR.multipliedBy(2))
                        .map(unused -> "answered by a stranger")
                        .await();
            });
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, 1));
            assertThatThrownBy(run::result).hasMessageContaining("TimedOutException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_is_delivered_in_every_round_that_begins_in_spite_of_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> caught = new CopyOnWriteArrayList<>();
            Definition<Integer, String> flow = Definition.of("stubborn", Integer.class, String.class, (ctx, round) -> {
                try {
                    ctx.sleep(HOUR);
                } catch (CancelledException cancelled) {
                    ctx.step("caught", () -> caught.add(round + " " + cancelled.getMessage()));
                }
                if (round < 3) {
                    throw ctx.continueAsNew(round + 1);
                }
                return "ended";
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, 1), id("stubborn"));
            perdure.settle();
            run.cancel("please");
            perdure.advance(Duration.ofHours(5));
            assertThat(run.result()).isEqualTo("ended");
            assertThat(caught).containsExactly("1 please", "2 please", "3 please");

            Definition<Integer, String> quick = Definition.of("stubborn", Integer.class, String.class, (ctx, round) -> {
                if (round == 1) {
                    ctx.step("cancel myself", () -> find(perdure, ctx.runId()).cancel("late"));
                    throw ctx.continueAsNew(2);
                }
                ctx.sleep(HOUR);
                return "slept";
            });
            perdure.deploy(quick);
            Run<String> next = perdure.start(Invocation.of(quick, 1), id("quick"));
            assertThatThrownBy(next::result).hasMessage("Run 'quick' is CANCELLED: late");
        }
    }

    private static Run<String> find(PerdureTest perdure, dev.perdure.RunId id) {
        return perdure.run(id, dev.perdure.TypeRef.of(String.class));
    }

    @ParameterizedTest
    @EnumSource
    void what_was_begun_and_not_awaited_ends_with_its_round(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<Integer, Integer> flow = Definition.of("async", Integer.class, Integer.class, (ctx, round) -> {
                ctx.stepAsync("beside", bodies::incrementAndGet);
                if (round < 4) {
                    throw ctx.continueAsNew(round + 1);
                }
                return round;
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, 1)).result()).isEqualTo(4);
            assertThat(bodies).hasValue(4);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_input_that_does_not_fit_is_refused_and_the_run_stays(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("wrong", (ctx, in) -> {
                Object next = in.equals("null") ? null : List.of(1);
                try {
                    throw ctx.continueAsNew(next);
                } catch (RuntimeException refused) {
                    return refused.getClass().getSimpleName() + " " + refused.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "null")).result())
                    .startsWith("InvalidRequestException The input of workflow 'wrong' is null. Give it a");
            assertThat(perdure.start(Invocation.of(flow, "list")).result())
                    .startsWith("PayloadException The input of workflow 'wrong' (java.lang.String) cannot be stored");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_restart_that_the_code_swallows_happens_all_the_same(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> flow = Definition.of("greedy", Integer.class, String.class, (ctx, round) -> {
                if (round == 2) {
                    return "second round";
                }
                try {
                    throw ctx.continueAsNew(2);
                } catch (Throwable swallowed) {
                    return "made up";
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, 1));
            assertThat(run.result()).isEqualTo("second round");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_item_of_a_dag_continues_with_another_item(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Integer>> dag = Dag.of("counting", Integer.class, builder -> {
                var numbers = builder.task("numbers", t -> List.of(1, 20)).returning(new TypeRef<List<Integer>>() {});
                return builder.forEach(numbers).workflow("each", (ctx, t, item) -> {
                    if (item % 10 != 3) {
                        throw ctx.continueAsNew(item + 1);
                    }
                    return item + t.input();
                });
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, 100).result()).containsExactly(103, 123);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_item_that_does_not_fit_is_refused_in_the_words_of_the_dag(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxPayloadBytes(2_000);
            Dag<String, List<String>> dag = Dag.of("counting", String.class, builder -> {
                var numbers = builder.task("numbers", t -> List.of(1, 2)).returning(new TypeRef<List<Integer>>() {});
                return builder.forEach(numbers).workflow("each", (ctx, t, item) -> {
                    try {
                        throw ctx.continueAsNew(item == 1 ? List.of("one") : "two");
                    } catch (PayloadException refused) {
                        return refused.getMessage();
                    }
                });
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "").result())
                    .hasSize(2)
                    .allSatisfy(message -> assertThat(message)
                            .startsWith(
                                    "The next item of task 'each' of DAG 'counting' (java.lang.Integer) cannot be stored: ")
                            .doesNotContain("dev.perdure.internal"));
            Run<List<String>> large = perdure.start(dag, "x".repeat(1_990));
            assertThatExceptionOfType(RunFailedException.class)
                    .isThrownBy(large::result)
                    .havingRootCause()
                    .withMessageContaining(
                            "Item 0 of task 'each' of DAG 'counting' cannot be stored together with the input of the DAG: it has ");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_of_a_dag_continues_with_another_input(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, String> dag = Dag.of("lasting", Integer.class, builder -> {
                var first = builder.task("first", t -> "first of " + t.input());
                var again = builder.after(first).workflow("again", (ctx, t, given) -> {
                    if (t.input() < 3) {
                        throw ctx.continueAsNew(t.input() + 1);
                    }
                    return given + ", again of " + t.input();
                });
                return builder.after(again).task("last", (t, given) -> given + ", last of " + t.input());
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, 1).result()).isEqualTo("first of 1, again of 3, last of 1");
        }
    }
}
