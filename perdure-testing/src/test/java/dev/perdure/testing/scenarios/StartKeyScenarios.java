package dev.perdure.testing.scenarios;

import static dev.perdure.StartKey.debounce;
import static dev.perdure.StartKey.deduplicate;
import static dev.perdure.StartKey.idempotencyKey;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StartOptions.under;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Starts under keys. */
abstract class StartKeyScenarios extends Scenarios {
    private static final Topic<String> GO = Topic.of("go", String.class);
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final Definition<String, String> wait =
            workflow("wait", (ctx, in) -> in + " " + ctx.receive(GO).await());
    private final Definition<String, String> echo = workflow("echo", (ctx, in) -> ctx.step("echo", () -> in));

    @ParameterizedTest
    @EnumSource
    void a_second_start_attaches_until_the_run_has_ended(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(wait);
            Run<String> first = perdure.start(Invocation.of(wait, "a"), under(deduplicate("k")));
            Run<String> second = perdure.start(Invocation.of(wait, "a"), under(deduplicate("k")));
            assertThat(second.id()).isEqualTo(first.id());
            first.send(GO, "on");
            assertThat(second.result()).isEqualTo("a on");
            Run<String> third = perdure.start(Invocation.of(wait, "a"), under(deduplicate("k")));
            assertThat(third.id()).isNotEqualTo(first.id());
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_input_is_a_conflict_unless_any_will_do(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(wait);
            Run<String> first = perdure.start(Invocation.of(wait, "a"), under(deduplicate("k")));
            assertThatThrownBy(() -> perdure.start(Invocation.of(wait, "b"), under(deduplicate("k"))))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessage(
                            "Run '%s' of 'wait' has the key 'k' with another input. Choose another key, or attach with attachToAnyInput().",
                            first.id());
            assertThat(perdure.start(
                                    Invocation.of(wait, "b"),
                                    under(deduplicate("k")).attachToAnyInput())
                            .id())
                    .isEqualTo(first.id());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_second_start_is_refused_with_the_run_that_is_there(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(wait);
            StartOptions one = under(deduplicate("k").refuse());
            Run<String> first = perdure.start(Invocation.of(wait, "a"), one);
            assertThatThrownBy(() -> perdure.start(Invocation.of(wait, "a"), one))
                    .isInstanceOfSatisfying(
                            RunConflictException.class,
                            refused -> assertThat(refused.existing()).hasValue(first.id()))
                    .hasMessage(
                            "Run '%s' of 'wait' has the key 'k'. Wait for it, choose another key, or attach to it.",
                            first.id());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_second_start_cancels_the_first_and_begins_after_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(wait);
            StartOptions last = under(deduplicate("k").replace());
            Run<String> first = perdure.start(Invocation.of(wait, "a"), last);
            perdure.settle();
            Run<String> second = perdure.start(Invocation.of(wait, "b"), last);
            assertThatThrownBy(first::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Replaced by run '%s'".formatted(second.id()));
            second.send(GO, "on");
            assertThat(second.result()).isEqualTo("b on");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_idempotency_key_gives_the_same_run_for_its_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(echo);
            StartOptions day = under(idempotencyKey("request-7", Duration.ofHours(24)));
            Run<String> first = perdure.start(Invocation.of(echo, "a"), day);
            assertThat(first.result()).isEqualTo("a");
            perdure.advance(Duration.ofHours(23));
            Run<String> again = perdure.start(Invocation.of(echo, "a"), day);
            assertThat(again.id()).isEqualTo(first.id());
            assertThat(again.result()).isEqualTo("a");
            assertThatThrownBy(() -> perdure.start(Invocation.of(echo, "b"), day))
                    .isInstanceOf(RunConflictException.class);
            perdure.advance(Duration.ofHours(1));
            assertThat(perdure.start(Invocation.of(echo, "b"), day).result()).isEqualTo("b");
        }
    }

    @ParameterizedTest
    @EnumSource
    void debounced_starts_make_one_run_with_the_last_input(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(echo);
            StartOptions quiet = under(debounce("page", QUIET, Duration.ofSeconds(25)));
            Run<String> first = perdure.start(Invocation.of(echo, "1"), quiet);
            perdure.advance(Duration.ofSeconds(9));
            Run<String> second = perdure.start(Invocation.of(echo, "2"), quiet);
            perdure.advance(Duration.ofSeconds(9));
            assertThat(first.state()).isEqualTo(RunState.SUSPENDED);
            perdure.start(Invocation.of(echo, "3"), quiet);
            assertThat(second.id()).isEqualTo(first.id());
            assertThat(first.result()).isEqualTo("3");
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(1);
            assertThat(perdure.start(Invocation.of(echo, "4"), quiet).result()).isEqualTo("4");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_debounced_run_survives_a_crash_with_its_last_input(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(echo);
            StartOptions quiet = under(debounce("page", QUIET, Duration.ofMinutes(1)));
            perdure.start(Invocation.of(echo, "1"), quiet);
            Run<String> run = perdure.start(Invocation.of(echo, "2"), quiet);
            perdure.crash();
            perdure.restart();
            assertThat(run.result()).isEqualTo("2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void starts_of_one_list_meet_under_their_key(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(wait);
            List<Run<String>> runs =
                    perdure.startAll(List.of("a", "a"), in -> Invocation.of(wait, in), in -> under(deduplicate("k")));
            assertThat(runs.get(1).id()).isEqualTo(runs.get(0).id());
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_does_not_fit_a_key_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of("steps", String.class, d -> d.task("only", t -> t.input()));
            perdure.register(dag, echo);
            Duration minute = Duration.ofMinutes(1);
            refused(
                    () -> id("x").startKey(deduplicate("k")),
                    "The start has the id 'x' and the key 'k'. The key chooses the run and its id: leave one of them out.");
            refused(
                    () -> under(deduplicate("k")).withId(id("x").id().orElseThrow()),
                    "The start has the id 'x' and the key 'k'. The key chooses the run and its id: leave one of them out.");
            refused(() -> deduplicate(""), "The deduplication key is empty. Give it a non-empty text.");
            refused(
                    () -> idempotencyKey("k".repeat(201), minute),
                    "The idempotency key '%s…' has 201 characters; at most 200 are allowed. Shorten it or use a hash of it."
                            .formatted("k".repeat(40)));
            refused(
                    () -> idempotencyKey("k", Duration.ZERO),
                    "The time to live of the idempotency key 'k' is PT0S; it must be longer than zero and at most 36500 days.");
            refused(
                    () -> debounce("k", minute.negated(), minute),
                    "The quiet time of the debounce key 'k' is PT-1M; it must be longer than zero and at most 36500 days.");
            refused(
                    () -> debounce("k", minute, Duration.ofSeconds(30)),
                    "The longest wait of the debounce key 'k' is PT30S, which is shorter than the quiet time PT1M. Make it at least as long.");
            refused(
                    () -> under(debounce("k", minute, minute)).delay(minute),
                    "The start under the debounce key 'k' has a delay. The debounce says when the run begins: leave the delay out.");
            refused(
                    () -> under(debounce("k", minute, minute)).startWithin(minute),
                    "The start under the debounce key 'k' has a time to start within. The debounce moves its start: leave the time to start within out.");
            refused(
                    () -> under(debounce("k", minute, minute)).message(GO, "x"),
                    "The start under the debounce key 'k' has a message. Only the input of the last start counts: leave the message out.");
            refused(
                    () -> under(deduplicate("k").replace()).delay(minute),
                    "The start under the key 'k' has a delay, and begins when the run that it replaces has ended. Leave the delay out, or replace runs only until they begin.");
            refused(
                    () -> perdure.start(Invocation.of(dag, "x"), under(debounce("k", minute, minute))),
                    "The run of DAG 'steps' was started under the key 'k', and a DAG cannot be debounced or replace a run that has begun. Start a workflow under the key that calls the DAG.");
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
        }
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(InvalidRequestException.class).hasMessage(message);
    }
}
