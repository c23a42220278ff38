package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Promise;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.audit.Operator;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunEndedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Promises by name and awakeables by token. */
abstract class PromiseScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> ANSWER = Topic.of("answer", String.class);

    private static Definition<String, String> asking() {
        return workflow("asking", (ctx, in) -> {
            String first = answer(ctx.promise(ANSWER));
            ctx.sleep(HOUR);
            return first + " " + answer(ctx.promise(ANSWER));
        });
    }

    private static String answer(DurableFuture<String> promise) {
        try {
            return promise.await();
        } catch (RejectedException rejected) {
            return "rejected: " + rejected.getMessage();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_promise_is_settled_once_and_awaited_by_any_number(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = asking();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            perdure.settle();
            Promise<String> promise = run.promise(ANSWER);
            assertThat(promise.peek()).isEmpty();
            promise.resolve("yes");
            assertThatThrownBy(() -> promise.resolve("no"))
                    .isInstanceOf(AlreadyResolvedException.class)
                    .hasMessage("Promise 'answer' of run 'p' is settled already; the first answer counts. "
                            + "Look at it instead of settling it again.");
            assertThatThrownBy(() -> promise.reject("no")).isInstanceOf(AlreadyResolvedException.class);
            assertThat(promise.peek()).contains("yes");
            assertThat(promise.await(HOUR)).isEqualTo("yes");
            perdure.crash();
            assertThat(run.result()).isEqualTo("yes yes");
            // The same after the end of the run.
            assertThat(promise.peek()).contains("yes");
            assertThatThrownBy(() -> promise.resolve("late")).isInstanceOf(RunEndedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_rejection_reaches_the_code_that_waits(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = asking();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(ANSWER).reject("no money");
            assertThatThrownBy(() -> run.promise(ANSWER).peek())
                    .isInstanceOf(RejectedException.class)
                    .hasMessage("no money");
            assertThatThrownBy(() -> run.promise(ANSWER).await(HOUR))
                    .isInstanceOf(RejectedException.class)
                    .hasMessage("no money");
            assertThat(run.result()).isEqualTo("rejected: no money rejected: no money");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_promise_may_be_settled_before_the_code_waits_or_the_run_begins(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = asking();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p").delay(HOUR));
            run.promise(ANSWER).resolve("early");
            assertThat(run.result()).isEqualTo("early early");
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void other_runs_settle_promises_and_the_second_has_no_effect(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = asking();
            Definition<String, String> settling = workflow("settling", (ctx, in) -> {
                if (in.startsWith("reject")) {
                    ctx.promise(RunId.of("rejected"), ANSWER).reject("by a run");
                } else {
                    ctx.promise(RunId.of("resolved"), ANSWER).resolve(in);
                }
                ctx.step("between", () -> {});
                return in;
            });
            perdure.register(flow, settling);
            Run<String> resolved = perdure.start(Invocation.of(flow, "x"), id("resolved"));
            Run<String> rejected = perdure.start(Invocation.of(flow, "x"), id("rejected"));
            for (String in : List.of("first", "second", "reject", "reject again")) {
                assertThat(perdure.start(Invocation.of(settling, in)).result()).isEqualTo(in);
            }
            assertThat(resolved.result()).isEqualTo("first first");
            assertThat(rejected.result()).isEqualTo("rejected: by a run rejected: by a run");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_from_outside_ends_at_its_limit(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = asking();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            assertThatThrownBy(() -> run.promise(ANSWER).await(HOUR))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage("Promise 'answer' of run 'p' is not settled after PT1H. Wait again, or settle it.");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
            run.promise(ANSWER).resolve("late");
            assertThat(run.promise(ANSWER).await(Duration.ofSeconds(Long.MAX_VALUE)))
                    .isEqualTo("late");
        }
    }

    private static Definition<String, String> handingOut(Map<String, Set<String>> tokens) {
        return workflow("handing out", (ctx, in) -> {
            Awakeable<String> first = ctx.awakeable(String.class);
            Awakeable<String> second = ctx.awakeable(String.class);
            tokens.computeIfAbsent(ctx.runId() + "/1", unseen -> ConcurrentHashMap.newKeySet())
                    .add(first.token());
            tokens.computeIfAbsent(ctx.runId() + "/2", unseen -> ConcurrentHashMap.newKeySet())
                    .add(second.token());
            ctx.step("hand out", () -> {});
            return answer(second) + " " + answer(first);
        });
    }

    private static String token(Map<String, Set<String>> tokens, String of) {
        assertThat(tokens.get(of)).hasSize(1);
        return tokens.get(of).iterator().next();
    }

    @ParameterizedTest
    @EnumSource
    void a_token_cannot_be_guessed_stays_the_same_and_works_once_wherever_its_run_is(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Map<String, Set<String>> tokens = new ConcurrentHashMap<>();
            Definition<String, String> flow = handingOut(tokens);
            perdure.register(flow);
            Run<String> one = perdure.start(Invocation.of(flow, "x"), id("one"));
            Run<String> two = perdure.start(Invocation.of(flow, "x"), id("two"));
            perdure.settle();
            perdure.crash();
            perdure.resolve(token(tokens, "one/1"), "first");
            perdure.settle();
            assertThat(one.state()).isEqualTo(RunState.SUSPENDED);
            assertThatThrownBy(() -> perdure.resolve(token(tokens, "one/1"), "again"))
                    .isInstanceOf(AlreadyResolvedException.class)
                    .hasMessageContaining("The awakeable at position 1 of run 'one' is settled already");
            perdure.reject(token(tokens, "one/2"), "no");
            perdure.resolve(token(tokens, "two/2"), "b");
            perdure.resolve(token(tokens, "two/1"), "a");
            assertThat(one.result()).isEqualTo("rejected: no first");
            assertThat(two.result()).isEqualTo("b a");
            assertThatThrownBy(() -> perdure.resolve(token(tokens, "two/1"), "late"))
                    .isInstanceOf(RunEndedException.class)
                    .hasMessageContaining("Run 'two' has ended");
            assertThat(tokens.values().stream().flatMap(Set::stream))
                    .hasSize(4)
                    .doesNotHaveDuplicates()
                    .allMatch(token -> token.matches("awk(1_[A-Za-z0-9_-]{32}|2_[A-Za-z0-9_-]{34})"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_token_works_as_soon_as_the_step_that_hands_it_out_runs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("eager", (ctx, in) -> {
                Awakeable<String> awakeable = ctx.awakeable(String.class);
                ctx.step("call back at once", () -> perdure.resolve(awakeable.token(), "at once"));
                return awakeable.await();
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("at once");
        }
    }

    public record Payment(String id, List<Integer> cents) {}

    @ParameterizedTest
    @EnumSource
    void an_awakeable_is_resolved_with_whatever_its_type_can_read(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> tokens = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("typed", (ctx, in) -> {
                Awakeable<Payment> payment = ctx.awakeable(Payment.class);
                Awakeable<List<String>> list = ctx.awakeable(new TypeRef<List<String>>() {});
                Awakeable<String> nothing = ctx.awakeable(String.class);
                ctx.step("hand out", () -> {
                    tokens.clear();
                    tokens.addAll(List.of(payment.token(), list.token(), nothing.token()));
                });
                return payment.await() + " " + list.await() + " " + nothing.await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.resolve(tokens.get(0), new Payment("P", List.of(1, 2)));
            perdure.resolve(tokens.get(1), List.of("a", "b"));
            perdure.resolve(tokens.get(2), null);
            assertThat(run.result()).isEqualTo("Payment[id=P, cents=[1, 2]] [a, b] null");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_awakeable_that_is_not_settled_times_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "forgotten",
                    (ctx, in) -> ctx.awakeable(String.class).orTimeout(HOUR).await());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result).hasMessageContaining("TimedOutException");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_value_of_another_type_than_was_asked_for_pauses_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> tokens = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("strict", (ctx, in) -> {
                Awakeable<Payment> payment = ctx.awakeable(Payment.class);
                ctx.step("hand out", () -> tokens.add(payment.token()));
                return (in.equals("awakeable") ? payment : ctx.promise(Topic.of("answer", Payment.class)))
                        .await()
                        .id();
            });
            perdure.register(flow);
            Run<String> awakeable = perdure.start(Invocation.of(flow, "awakeable"));
            perdure.settle();
            perdure.resolve(tokens.getFirst(), "text");
            Run<String> promise = perdure.start(Invocation.of(flow, "promise"));
            promise.promise(ANSWER).resolve("text");
            perdure.settle();
            for (Run<String> run : List.of(awakeable, promise)) {
                assertThat(run.state()).isEqualTo(RunState.PAUSED);
                assertThat(run.info().reason().orElseThrow())
                        .contains("cannot be read", Payment.class.getName(), "then resume the run");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_operator_settles_an_awakeable_by_its_position_and_the_history_says_who(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = handingOut(new ConcurrentHashMap<>());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("one"));
            perdure.settle();
            Run<String> byAnna = perdure.as(Operator.named("anna")).run(run.id(), TypeRef.of(String.class));
            Run<String> byBen = perdure.as(Operator.named("ben")).run(run.id(), TypeRef.of(String.class));
            assertThatThrownBy(() -> byAnna.resolveAwakeable(9, "x"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Run 'one' has no awakeable at position 9 now. Look for AWAKEABLE in its history, and give the position that stands there.");
            assertThatThrownBy(() -> Operator.named(""))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("The operator is empty");
            byAnna.resolveAwakeable(1, "first");
            assertThatThrownBy(() -> byBen.rejectAwakeable(1, "no"))
                    .isInstanceOf(AlreadyResolvedException.class)
                    .hasMessageContaining("The awakeable at position 1 of run 'one' is settled already");
            byBen.rejectAwakeable(2, "no");
            assertThat(run.result()).isEqualTo("rejected: no first");
            assertThatThrownBy(() -> byAnna.resolveAwakeable(1, "late")).isInstanceOf(RunEndedException.class);
            assertThat(run.history().stream()
                            .filter(event -> event.text().contains("operator"))
                            .map(event -> event.position() + " " + event.text()))
                    .containsExactly(
                            "1 operator 'anna' resolved the awakeable", "2 operator 'ben' rejected the awakeable");
        }
    }
}
