package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.after;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Handler;
import dev.perdure.InvalidRequestException;
import dev.perdure.ObjectContext;
import dev.perdure.ObjectHandle;
import dev.perdure.Run;
import dev.perdure.RunConflictException;
import dev.perdure.RunFailedException;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.SharedObjectContext;
import dev.perdure.StartOptions;
import dev.perdure.StateKey;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ObjectScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);

    /** A list that can do whatever a scenario needs. */
    @VirtualObject("list")
    static final class Log {
        static final StateKey<List<String>> LINES = StateKey.of("lines", new TypeRef<>() {});
        static final StateKey<String> NOTE = StateKey.of("note", String.class);
        static final Topic<String> GO = Topic.of("go", String.class);

        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final AtomicInteger entered = new AtomicInteger();

        @Handler
        public int append(ObjectContext ctx, String line) {
            entered.incrementAndGet();
            return add(ctx, line);
        }

        private static int add(ObjectContext ctx, String line) {
            List<String> lines = new ArrayList<>(ctx.get(LINES).orElse(List.of()));
            lines.add(line);
            ctx.set(LINES, lines);
            return lines.size();
        }

        @Handler
        public int appendInSteps(ObjectContext ctx, String line) {
            int before = add(ctx, line + " begun");
            ctx.run("overlap", () -> most.accumulateAndGet(inside.incrementAndGet(), Math::max));
            ctx.sleep(Duration.ofSeconds(5));
            ctx.run("leave", inside::decrementAndGet);
            int after = add(ctx, line + " done");
            return after - before;
        }

        @Handler
        public String sleepy(ObjectContext ctx) {
            ctx.set(NOTE, "asleep");
            ctx.sleep(DAY);
            ctx.set(NOTE, "awake");
            return ctx.get(NOTE).orElseThrow();
        }

        @Handler
        public void failing(ObjectContext ctx, String note) {
            ctx.set(NOTE, note);
            throw new IllegalStateException("broken after " + note);
        }

        @Handler
        public void forget(ObjectContext ctx) {
            ctx.clear(NOTE);
        }

        @Handler
        public SortedSet<String> forgetAll(ObjectContext ctx) {
            SortedSet<String> before = ctx.keys();
            ctx.clearAll();
            ctx.set(NOTE, "after " + before + " came " + ctx.keys());
            return before;
        }

        @Handler
        public List<String> lines(SharedObjectContext ctx) {
            return ctx.get(LINES).orElse(List.of());
        }

        @Handler
        public Optional<String> note(SharedObjectContext ctx) {
            return ctx.get(NOTE);
        }

        @Handler
        public String waitForGo(ObjectContext ctx) {
            ctx.set(NOTE, "waiting");
            return ctx.promise(GO).await();
        }

        @Handler
        public void goExclusively(ObjectContext ctx, String run) {
            ctx.resolve(RunId.of(run), GO, "exclusive");
        }

        @Handler
        public void go(SharedObjectContext ctx, String run) {
            ctx.resolve(RunId.of(run), GO, "shared by " + ctx.get(NOTE).orElse("nobody"));
        }

        @Handler
        public String callOther(ObjectContext ctx, String other) {
            add(ctx, "calls " + other);
            int size = ctx.object(Log.class, other).call(Log::append, "from " + ctx.key());
            return "%s has %d".formatted(other, size);
        }

        @Handler
        public String viaOther(ObjectContext ctx, List<String> way) {
            if (way.isEmpty()) {
                return "end at " + ctx.key();
            }
            List<String> rest = way.subList(1, way.size());
            try {
                return ctx.object(Log.class, way.getFirst()).call(Log::viaOther, List.copyOf(rest));
            } catch (RunFailedException refused) {
                return refused.getMessage();
            }
        }

        @Handler
        public void remind(ObjectContext ctx, Duration delay) {
            ctx.object(Log.class, ctx.key()).send(Log::append, "later", after(delay));
            ctx.object(Log.class, ctx.key()).send(Log::append, "now");
            add(ctx, "first");
        }
    }

    private static ObjectHandle<Log> log(PerdureTest perdure, String key) {
        return perdure.object(Log.class, key);
    }

    private static List<String> linesOf(PerdureTest perdure, String key) {
        return log(perdure, key).state().get(Log.LINES).orElse(List.of());
    }

    @ParameterizedTest
    @EnumSource
    void exclusive_calls_of_a_key_never_overlap_and_keep_the_order_of_their_arrival(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Log log = new Log();
            perdure.register(log);
            List<Run<Integer>> runs = IntStream.range(0, 20)
                    .mapToObj(i -> log(perdure, "a").send(Log::appendInSteps, "call " + i))
                    .toList();
            runs.forEach(run -> assertThat(run.result()).isEqualTo(1));
            assertThat(log.most).hasValue(1);
            assertThat(linesOf(perdure, "a"))
                    .isEqualTo(IntStream.range(0, 20)
                            .boxed()
                            .flatMap(i -> Stream.of("call " + i + " begun", "call " + i + " done"))
                            .toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void calls_that_only_touch_state_follow_each_other_from_what_the_last_one_left(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> first = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            List<Run<Integer>> runs = IntStream.range(0, 100)
                    .mapToObj(i -> log(perdure, "a").send(Log::append, "" + i))
                    .toList();
            assertThat(runs.get(7).state()).isEqualTo(RunState.PENDING);
            assertThat(first.result()).isEqualTo("awake");
            for (int i = 0; i < runs.size(); i++) {
                assertThat(runs.get(i).result()).isEqualTo(i + 1);
            }
            assertThat(linesOf(perdure, "a")).hasSize(100);
            assertThat(log(perdure, "a").state().keys()).containsExactly("lines", "note");
        }
    }

    @Test
    void different_keys_run_at_once() throws InterruptedException {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            CountDownLatch both = new CountDownLatch(2);
            perdure.register(new Meeting(both));
            Run<@Nullable Void> a = perdure.object(Meeting.class, "a").sendVoid(Meeting::meet, StartOptions.defaults());
            Run<@Nullable Void> b = perdure.object(Meeting.class, "b").sendVoid(Meeting::meet, StartOptions.defaults());
            a.result();
            b.result();
            assertThat(both.getCount()).isZero();
        }
    }

    @VirtualObject("meeting")
    static final class Meeting {
        private final CountDownLatch both;

        Meeting(CountDownLatch both) {
            this.both = both;
        }

        @Handler
        public void meet(ObjectContext ctx) {
            ctx.run("meet", () -> {
                both.countDown();
                await(both);
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_suspended_call_keeps_its_key_and_shared_calls_run_beside_it_and_see_what_it_committed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> sleeping = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.settle();
            Run<Integer> waiting = log(perdure, "a").send(Log::append, "x");
            perdure.settle();
            assertThat(sleeping.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(waiting.state()).isEqualTo(RunState.PENDING);
            assertThat(log(perdure, "a").call(Log::note)).hasValue("asleep");
            assertThat(log(perdure, "b").call(Log::append, "y")).isEqualTo(1);
            assertThat(sleeping.state()).isEqualTo(RunState.SUSPENDED);
            perdure.advance(DAY);
            assertThat(waiting.result()).isEqualTo(1);
            assertThat(log(perdure, "a").call(Log::note)).hasValue("awake");
        }
    }

    @ParameterizedTest
    @EnumSource
    void state_set_before_a_failure_stays_and_the_key_is_free(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            assertThatThrownBy(() -> log(perdure, "a").callVoid(Log::failing, "this"))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("broken after this");
            assertThat(log(perdure, "a").call(Log::note)).hasValue("this");
            assertThat(log(perdure, "a").call(Log::append, "next")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void state_is_cleared_listed_and_survives_a_restart(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            log(perdure, "a").call(Log::append, "x");
            log(perdure, "a").edit(state -> state.set(Log.NOTE, "by hand"));
            perdure.restart();
            assertThat(log(perdure, "a").call(Log::note)).hasValue("by hand");
            log(perdure, "a").callVoid(Log::forget);
            assertThat(log(perdure, "a").state().keys()).containsExactly("lines");
            assertThat(log(perdure, "a").call(Log::forgetAll)).containsExactly("lines");
            assertThat(log(perdure, "a").state().keys()).containsExactly("note");
            assertThat(log(perdure, "a").state().get(Log.NOTE)).hasValue("after [lines] came []");
            assertThat(log(perdure, "never called").state().keys()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_edit_has_its_turn_like_any_other_call(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> sleeping = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.settle();
            log(perdure, "a").edit(state -> state.clearAll().set(Log.LINES, List.of("edited")));
            assertThat(sleeping.state()).isEqualTo(RunState.COMPLETED);
            assertThat(log(perdure, "a").state().keys()).containsExactly("lines");
            assertThat(log(perdure, "a").call(Log::append, "x")).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_at_any_commit_neither_loses_nor_doubles_a_change(TestMode mode) {
        for (int crash = 0; crash < 6; crash++) {
            for (boolean before : List.of(true, false)) {
                try (PerdureTest perdure = create(mode)) {
                    perdure.register(new Log());
                    if (before) {
                        perdure.crashBeforeCommit(crash);
                    } else {
                        perdure.crashAfterCommit(crash);
                    }
                    ObjectHandle<Log> log = perdure.client().object(Log.class, "a");
                    Run<Integer> slow = log.send(Log::appendInSteps, "1", id("slow"));
                    Run<Integer> quick = log.send(Log::append, "2", id("quick"));
                    assertThat(slow.result()).isEqualTo(1);
                    assertThat(quick.result()).isEqualTo(3);
                    assertThat(linesOf(perdure, "a")).containsExactly("1 begun", "1 done", "2");
                }
            }
        }
    }

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
            log(perdure, "a").callVoid(Log::remind, DAY);
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
                    .contains("FAILED: Calls wait for each other in a circle: ")
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
                    .filteredOn(result -> result.contains("Calls wait for each other in a circle: ")
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
            ctx.run("hold", () -> {
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
    void a_waiting_call_that_is_cancelled_or_killed_leaves_the_queue(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Log log = new Log();
            perdure.register(log);
            Run<String> holder = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            Run<Integer> cancelled = log(perdure, "a").send(Log::append, "cancelled");
            Run<Integer> killed = log(perdure, "a").send(Log::append, "killed");
            Run<Integer> last = log(perdure, "a").send(Log::append, "last");
            perdure.settle();
            cancelled.cancel("not wanted");
            killed.kill("not wanted either");
            assertThat(cancelled.state()).isEqualTo(RunState.CANCELLED);
            assertThat(killed.state()).isEqualTo(RunState.CANCELLED);
            assertThat(last.result()).isEqualTo(1);
            assertThat(holder.state()).isEqualTo(RunState.COMPLETED);
            assertThat(log.entered).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancel_and_kill_of_the_holder_free_the_key_and_a_paused_holder_keeps_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> first = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            Run<String> second = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            Run<String> third = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.settle();
            first.cancel("enough");
            perdure.settle();
            assertThat(first.state()).isEqualTo(RunState.CANCELLED);
            assertThat(second.state()).isEqualTo(RunState.SUSPENDED);
            second.kill("enough");
            perdure.settle();
            assertThat(third.state()).isEqualTo(RunState.SUSPENDED);
            third.pause("hold it");
            Run<Integer> fourth = log(perdure, "a").send(Log::append, "x");
            perdure.advance(DAY.multipliedBy(2));
            assertThat(third.state()).isEqualTo(RunState.PAUSED);
            assertThat(fourth.state()).isEqualTo(RunState.PENDING);
            third.resume();
            assertThat(fourth.result()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_waiting_call_that_is_paused_keeps_its_place(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> holder = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            Run<Integer> early = log(perdure, "a").send(Log::append, "early");
            Run<Integer> paused = log(perdure, "a").send(Log::append, "paused");
            Run<Integer> behind = log(perdure, "a").send(Log::append, "behind");
            perdure.settle();
            early.pause("look at it");
            paused.pause("look at it");
            early.resume();
            assertThat(early.state()).isEqualTo(RunState.PENDING);
            perdure.advance(DAY);
            assertThat(holder.state()).isEqualTo(RunState.COMPLETED);
            assertThat(early.result()).isEqualTo(1);
            assertThat(paused.state()).isEqualTo(RunState.PAUSED);
            assertThat(behind.state()).isEqualTo(RunState.PENDING);
            paused.resume();
            assertThat(behind.result()).isEqualTo(3);
            assertThat(linesOf(perdure, "a")).containsExactly("early", "paused", "behind");
        }
    }

    @ParameterizedTest
    @EnumSource
    void only_a_shared_handler_can_resolve_what_the_holder_waits_for(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> waiting = log(perdure, "a").send(Log::waitForGo, id("waiting"));
            perdure.settle();
            Run<@Nullable Void> exclusive = log(perdure, "a").sendVoid(Log::goExclusively, "waiting");
            perdure.advance(DAY);
            assertThat(waiting.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(exclusive.state()).isEqualTo(RunState.PENDING);
            log(perdure, "a").callVoid(Log::go, "waiting");
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
            assertThat(main.id().value()).isEqualTo("approval/order-1");
            assertThat(object.call(Approval::status)).isEqualTo("shoes wait for approval");
            object.callVoid(Approval::approve, "Ann");
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
            ctx.run("ask", asked::incrementAndGet);
            ctx.set(STATUS, what + " wait for approval");
            return what + " approved by " + ctx.promise(APPROVED).await();
        }

        @Handler
        public void approve(SharedObjectContext ctx, String who) {
            ctx.resolve(ctx.main(), APPROVED, who);
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
                ctx.object(Log.class, "a").callVoid(Log::forget);
                return one.await() + " " + two.await() + " "
                        + ctx.object(Log.class, "a").call(Log::lines);
            });
            perdure.register(new Log(), caller);
            assertThat(perdure.start(caller, "x").result()).isEqualTo("1 2 [x, x, sent]");
        }
    }

    @Test
    void a_handler_that_was_started_as_a_workflow_says_how_to_call_it() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            perdure.register(new Log());
            Run<Integer> run = perdure.start("list/append", "x", TypeRef.of(Integer.class), StartOptions.defaults());
            assertThatThrownBy(run::result)
                    .hasMessageContaining("'list/append' is a handler of a virtual object")
                    .hasMessageContaining("perdure.object(");
        }
    }
}
