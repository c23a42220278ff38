package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.testing.scenarios.Log.linesOf;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of virtual objects from runs and from each other. */
abstract class ObjectCallScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);

    @ParameterizedTest
    @EnumSource
    void a_call_from_one_object_to_another_waits_for_its_result(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            assertThat(log(perdure, "a").call(Log::callOther, "b")).isEqualTo("b has 1");
            assertThat(linesOf(perdure, "b")).containsExactly("from a");
        }
    }

    @ParameterizedTest
    @EnumSource
    void sends_of_a_run_keep_their_order_and_a_delayed_call_takes_its_place_when_it_is_due(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            log(perdure, "a").call(Log::remind, DAY);
            perdure.settle();
            assertThat(linesOf(perdure, "a")).containsExactly("first", "now");
            perdure.advance(DAY.minusMinutes(1));
            Run<String> holder = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.advance(Duration.ofMinutes(2));
            assertThat(linesOf(perdure, "a")).containsExactly("first", "now");
            assertThat(log(perdure, "a").call(Log::append, "last")).isEqualTo(4);
            assertThat(holder.state()).isEqualTo(RunState.COMPLETED);
            assertThat(linesOf(perdure, "a")).containsExactly("first", "now", "later", "last");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_call_made_twice_under_one_id_is_made_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<Integer> first = log(perdure, "a").send(Log::append, "x", id("once"));
            Run<Integer> again = log(perdure, "a").send(Log::append, "x", id("once"));
            assertThat(first.result()).isEqualTo(again.result()).isEqualTo(1);
            assertThat(linesOf(perdure, "a")).containsExactly("x");
            assertThatThrownBy(() -> log(perdure, "a").send(Log::append, "y", id("once")))
                    .isInstanceOf(RunConflictException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_call_that_comes_back_to_a_key_its_own_chain_holds_is_refused_with_the_chain(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> run = log(perdure, "a").send(Log::viaOther, List.of("b", "a"), id("root"));
            assertThat(run.result())
                    .contains("FAILED: Calls wait for each other in a cycle: ")
                    .contains("(list/viaOther of 'a') waits for 'root' (list/viaOther of 'a') waits for 'root/")
                    .contains("(list/viaOther of 'b') waits for ")
                    .endsWith("Let one of them send instead of call, or call a shared handler.");
            assertThat(log(perdure, "a").call(Log::append, "free")).isEqualTo(1);
            assertThat(log(perdure, "b").call(Log::append, "free")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_calls_of_different_roots_that_wait_for_each_other_are_found(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Crossing crossing = new Crossing();
            perdure.register(crossing);
            Run<String> a = perdure.object(Crossing.class, "a").send(Crossing::cross, "b", id("A"));
            Run<String> b = perdure.object(Crossing.class, "b").send(Crossing::cross, "a", id("B"));
            List<String> results = List.of(a.result(), b.result());
            assertThat(results).filteredOn(result -> result.equals("passed")).hasSize(1);
            assertThat(results)
                    .filteredOn(result -> result.contains("Calls wait for each other in a cycle: ")
                            && result.contains("'A' (crossing/cross of 'a')")
                            && result.contains("'B' (crossing/cross of 'b')"))
                    .hasSize(1);
        }
    }

    /** Both hold their own key before either calls the other. */
    @VirtualObject("crossing")
    static final class Crossing {
        private final CountDownLatch both = new CountDownLatch(2);

        @Handler
        public String cross(ObjectContext ctx, String other) {
            ctx.step("hold", () -> {
                both.countDown();
                await(both);
            });
            try {
                return ctx.object(Crossing.class, other).call(Crossing::pass);
            } catch (RunFailedException refused) {
                return String.valueOf(refused.getMessage());
            }
        }

        @Handler
        public String pass(ObjectContext ctx) {
            return "passed";
        }
    }

    @ParameterizedTest
    @EnumSource
    void only_a_shared_handler_can_resolve_what_the_holder_waits_for(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> waiting = log(perdure, "a").send(Log::waitForGo, id("waiting"));
            perdure.settle();
            Run<@Nullable Void> exclusive = log(perdure, "a").send(Log::goExclusively, "waiting");
            perdure.advance(DAY);
            assertThat(waiting.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(exclusive.state()).isEqualTo(RunState.PENDING);
            log(perdure, "a").call(Log::go, "waiting");
            assertThat(waiting.result()).isEqualTo("shared by waiting");
            exclusive.result();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_main_handler_of_a_workflow_object_runs_once_and_shared_handlers_talk_to_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Approval approval = new Approval();
            perdure.register(approval);
            ObjectHandle<Approval> object = perdure.object(Approval.class, "order-1");
            Run<String> main = object.send(Approval::run, "shoes");
            Run<String> again = object.send(Approval::run, "shoes");
            perdure.settle();
            assertThat(main.id().value()).endsWith("approval/order-1");
            assertThat(object.call(Approval::status)).isEqualTo("shoes wait for approval");
            object.call(Approval::approve, "Ann");
            assertThat(main.result()).isEqualTo("shoes approved by Ann");
            assertThat(again.result()).isEqualTo("shoes approved by Ann");
            assertThat(object.call(Approval::run, "shoes")).isEqualTo("shoes approved by Ann");
            assertThat(approval.asked).hasValue(1);
            assertThatThrownBy(() -> object.send(Approval::run, "hats")).isInstanceOf(RunConflictException.class);
            assertThatThrownBy(() -> object.send(Approval::run, "shoes", id("mine")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("runs once per key");
        }
    }

    @VirtualObject("approval")
    static final class Approval {
        static final StateKey<String> STATUS = StateKey.of("status", String.class);
        static final Topic<String> APPROVED = Topic.of("approved", String.class);
        final AtomicInteger asked = new AtomicInteger();

        @Handler(once = true)
        public String run(ObjectContext ctx, String what) {
            ctx.step("ask", asked::incrementAndGet);
            ctx.set(STATUS, what + " wait for approval");
            return what + " approved by " + ctx.promise(APPROVED).await();
        }

        @Handler
        public void approve(SharedObjectContext ctx, String who) {
            ctx.promise(ctx.main(), APPROVED).resolve(who);
        }

        @Handler
        public String status(SharedObjectContext ctx) {
            return ctx.get(STATUS).orElse("unknown");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_calls_objects_begins_calls_and_sends(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> caller = workflow("caller", (ctx, in) -> {
                var one = ctx.object(Log.class, "a").begin(Log::append, in);
                var two = ctx.object(Log.class, "a").begin(Log::append, in, ChildOptions.childId("two"));
                ctx.object(Log.class, "a").send(Log::append, "sent");
                ctx.object(Log.class, "a").call(Log::forget);
                return one.await() + " " + two.await() + " "
                        + ctx.object(Log.class, "a").call(Log::lines);
            });
            perdure.register(new Log(), caller);
            assertThat(perdure.start(Invocation.of(caller, "x")).result()).isEqualTo("1 2 [x, x, sent]");
        }
    }

    @Test
    void a_handler_that_was_started_as_a_workflow_says_how_to_call_it() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(new Log());
            Run<Integer> run = perdure.start(
                    Invocation.of("list/append", "x", TypeRef.of(Integer.class)), StartOptions.defaults());
            assertThatThrownBy(run::result)
                    .hasMessageContaining("'list/append' is a handler of a virtual object")
                    .hasMessageContaining("perdure.object(");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_shared_handler_resolves_the_awakeable_that_the_holder_waits_for(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> waiting = log(perdure, "a").send(Log::waitForAnswer, StartOptions.defaults());
            perdure.settle();
            String token = log(perdure, "a").state().get(Log.NOTE).orElseThrow();
            assertThat(log(perdure, "a").call(Log::answer, token)).isTrue();
            assertThat(waiting.result()).isEqualTo("by a");
            assertThat(log(perdure, "a").call(Log::answer, token)).isFalse();
            assertThat(log(perdure, "a").call(Log::answer, "no token")).isFalse();
        }
    }
}
