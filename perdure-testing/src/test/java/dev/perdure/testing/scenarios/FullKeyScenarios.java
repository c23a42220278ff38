package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.error.CancelledException;
import dev.perdure.error.KeyFullException;
import dev.perdure.error.RunFailedException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queue.WhenKeyFull;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a start does whose key in its queue is full. */
abstract class FullKeyScenarios extends Scenarios {
    private static final Topic<String> GO = Topic.of("go", String.class);

    private final List<String> log = new CopyOnWriteArrayList<>();

    private final Definition<String, String> wait = workflow("wait", (ctx, in) -> {
        ctx.step("begin", () -> log.add("begin " + in));
        try {
            return in + " " + ctx.receive(GO).await();
        } catch (CancelledException cancelled) {
            ctx.step("end", () -> log.add("end " + in));
            throw cancelled;
        }
    });

    private PerdureTest with(TestMode mode, WhenKeyFull policy) {
        PerdureTest perdure = create(mode);
        perdure.register(wait).queues(Queue.named("imports").perKey(1).whenKeyFull(policy));
        return perdure;
    }

    /** The id begins with the key, as those of runs with keys do on several shards. */
    private static StartOptions in(String name) {
        return id("acme/" + name).queue("imports").key("acme");
    }

    private Run<String> start(PerdureTest perdure, String name) {
        return perdure.start(Invocation.of(wait, name), in(name));
    }

    @ParameterizedTest
    @EnumSource
    void a_start_is_refused_until_a_run_of_its_key_has_ended(TestMode mode) {
        try (PerdureTest perdure = with(mode, WhenKeyFull.REFUSE)) {
            Run<String> first = start(perdure, "first");
            perdure.settle();
            assertThatThrownBy(() -> start(perdure, "second"))
                    .isInstanceOfSatisfying(KeyFullException.class, refused -> {
                        assertThat(refused.queue()).isEqualTo("imports");
                        assertThat(refused.key()).isEqualTo("acme");
                    })
                    .hasMessage(
                            "Run 'acme/second' was refused. The key 'acme' of the queue 'imports' is full: 1 of 1 places are taken or waited for, by 'acme/first'. Start it again when one of them has ended.");
            assertThat(start(perdure, "first").id()).isEqualTo(first.id());
            first.send(GO, "on");
            assertThat(first.result()).isEqualTo("first on");
            Run<String> second = start(perdure, "second");
            second.send(GO, "on");
            assertThat(second.result()).isEqualTo("second on");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_dropped_start_returns_a_run_that_is_cancelled(TestMode mode) {
        try (PerdureTest perdure = with(mode, WhenKeyFull.DROP_NEWEST)) {
            Run<String> first = start(perdure, "first");
            Run<String> second = start(perdure, "second");
            assertThatThrownBy(second::result)
                    .isInstanceOfSatisfying(
                            RunFailedException.class,
                            failed -> assertThat(failed.state()).isEqualTo(RunState.CANCELLED))
                    .hasMessageContaining("Dropped. The key 'acme' of the queue 'imports' is full");
            first.send(GO, "on");
            assertThat(first.result()).isEqualTo("first on");
            assertThat(log).containsExactly("begin first");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_newest_begins_when_the_oldest_has_ended(TestMode mode) {
        try (PerdureTest perdure = with(mode, WhenKeyFull.CANCEL_OLDEST)) {
            Run<String> first = start(perdure, "first");
            perdure.settle();
            Run<String> second = start(perdure, "second");
            assertThatThrownBy(first::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Cancelled in favour of run 'acme/second'");
            second.send(GO, "on");
            assertThat(second.result()).isEqualTo("second on");
            assertThat(log).containsExactly("begin first", "end first", "begin second");
        }
    }

    @ParameterizedTest
    @EnumSource
    void of_starts_in_one_call_those_without_a_place_are_refused_and_the_others_begin(TestMode mode) {
        try (PerdureTest perdure = with(mode, WhenKeyFull.REFUSE)) {
            assertThatThrownBy(() -> perdure.startAll(
                            List.of("a", "b"), each -> Invocation.of(wait, each), FullKeyScenarios::in))
                    .isInstanceOf(KeyFullException.class);
            Run<String> first = start(perdure, "a");
            first.send(GO, "on");
            assertThat(first.result()).isEqualTo("a on");
        }
    }
}
