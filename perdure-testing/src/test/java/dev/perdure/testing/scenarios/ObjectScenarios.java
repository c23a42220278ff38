package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.testing.scenarios.Log.linesOf;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which call holds a virtual object, and which is next. */
abstract class ObjectScenarios extends Scenarios {
    private static final Duration DAY = Duration.ofDays(1);

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
            Run<@Nullable Void> a = perdure.object(Meeting.class, "a").send(Meeting::meet, StartOptions.defaults());
            Run<@Nullable Void> b = perdure.object(Meeting.class, "b").send(Meeting::meet, StartOptions.defaults());
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
            ctx.step("meet", () -> {
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
    void a_call_that_only_writes_hands_nothing_on_that_is_not_committed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> holder = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            for (int i = 0; i < 10; i++) {
                log(perdure, "a").send(Log::write, "note " + i, StartOptions.defaults());
                log(perdure, "a").send(Log::append, "line " + i);
            }
            assertThat(log(perdure, "a").call(Log::append, "last")).isEqualTo(11);
            assertThat(holder.state()).isEqualTo(RunState.COMPLETED);
            assertThat(log(perdure, "a").state().get(Log.NOTE)).hasValue("note 9");
        }
    }

    @ParameterizedTest
    @EnumSource
    void calls_with_steps_and_without_are_mixed_in_the_order_of_their_arrival(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Log log = new Log();
            perdure.register(log);
            log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            for (int i = 0; i < 30; i += 3) {
                log(perdure, "a").send(Log::append, "" + i);
                log(perdure, "a").send(Log::append, "" + (i + 1));
                log(perdure, "a").send(Log::appendInSteps, "" + (i + 2));
            }
            assertThat(log(perdure, "a").call(Log::append, "last")).isEqualTo(41);
            assertThat(log.most).hasValue(1);
            assertThat(linesOf(perdure, "a"))
                    .startsWith("0", "1", "2 begun", "2 done", "3", "4", "5 begun", "5 done", "6")
                    .endsWith("28", "29 begun", "29 done", "last");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_in_a_row_of_calls_is_its_own_and_what_it_set_stays(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            log(perdure, "a").send(Log::append, "x");
            Run<@Nullable Void> failing = log(perdure, "a").send(Log::failing, "this", StartOptions.defaults());
            Run<Integer> behind = log(perdure, "a").send(Log::append, "y");
            assertThat(behind.result()).isEqualTo(2);
            assertThatThrownBy(failing::result).hasMessageContaining("broken after this");
            assertThat(log(perdure, "a").state().get(Log.NOTE)).hasValue("this");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_end_whose_answer_is_lost_leaves_no_call_behind(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> holder = log(perdure, "a").send(Log::sleepy, StartOptions.defaults());
            perdure.settle();
            List<Run<Integer>> runs = IntStream.range(0, 10)
                    .mapToObj(i -> log(perdure, "a").send(Log::append, "" + i))
                    .toList();
            perdure.loseNextAnswer();
            perdure.advance(DAY);
            for (int i = 0; i < runs.size(); i++) {
                assertThat(runs.get(i).result()).isEqualTo(i + 1);
            }
            assertThat(holder.result()).isEqualTo("awake");
            assertThat(linesOf(perdure, "a")).hasSize(10);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_at_any_commit_of_a_row_of_calls_neither_loses_nor_doubles_one(TestMode mode) {
        for (int crash = 0; crash < 5; crash++) {
            for (boolean before : List.of(true, false)) {
                try (PerdureTest perdure = create(mode)) {
                    perdure.register(new Log());
                    ObjectHandle<Log> log = perdure.client().object(Log.class, "a");
                    log.send(Log::sleepy, StartOptions.defaults());
                    perdure.settle();
                    List<Run<Integer>> runs = IntStream.range(0, 8)
                            .mapToObj(i -> log.send(Log::append, "" + i))
                            .toList();
                    if (before) {
                        perdure.crashBeforeCommit(crash);
                    } else {
                        perdure.crashAfterCommit(crash);
                    }
                    for (int i = 0; i < runs.size(); i++) {
                        assertThat(runs.get(i).result()).isEqualTo(i + 1);
                    }
                    assertThat(linesOf(perdure, "a")).containsExactly("0", "1", "2", "3", "4", "5", "6", "7");
                }
            }
        }
    }
}
