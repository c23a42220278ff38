package dev.perdure.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommitterTest {
    /** A ledger that shows each batch, and lets it pass, hold or fail as the test says. */
    private static final class RecordingLedger implements Ledger {
        private final List<List<String>> batches = new CopyOnWriteArrayList<>();
        private final List<Lane> lanes = new CopyOnWriteArrayList<>();
        private final Queue<CountDownLatch> holds = new ConcurrentLinkedQueue<>();
        private final Queue<Supplier<? extends Throwable>> failures = new ConcurrentLinkedQueue<>();
        private volatile Outcome outcome = DONE;
        /** Changes that are about something that moves. */
        private final Set<String> moving = ConcurrentHashMap.newKeySet();

        /** The next batch that has no hold yet is kept until the latch opens. */
        CountDownLatch hold() {
            CountDownLatch hold = new CountDownLatch(1);
            holds.add(hold);
            return hold;
        }

        @Override
        public List<Outcome> apply(Lane lane, List<Change> changes) {
            CountDownLatch hold = holds.poll();
            Supplier<? extends Throwable> failure = failures.poll();
            lanes.add(lane);
            batches.add(changes.stream().map(RecordingLedger::mark).toList());
            pass(hold);
            if (failure != null) {
                switch (failure.get()) {
                    case RuntimeException thrown -> throw thrown;
                    case Error broken -> throw broken;
                    case Throwable other -> throw new AssertionError(other);
                }
            }
            return changes.stream()
                    .map(change -> moving.contains(mark(change)) ? new Outcome.Moving() : outcome)
                    .toList();
        }

        private static String mark(Change change) {
            return change instanceof Change.Advance append
                    ? append.run().id().value()
                    : ((Change.Command) change).reason();
        }

        private static void pass(CountDownLatch hold) {
            try {
                if (hold != null && !hold.await(10, TimeUnit.SECONDS)) {
                    throw new AssertionError("the test did not let the batch pass");
                }
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
    }

    private static final WorkerId WORKER = new WorkerId(new UUID(1, 2));
    private static final Outcome DONE = new Outcome.Applied(Instant.EPOCH, RunState.RUNNING);

    private final RecordingLedger ledger = new RecordingLedger();
    private final GatedClockwork clockwork = new GatedClockwork();
    private final AtomicBoolean alive = new AtomicBoolean(true);

    private Committer committer(int lanes) {
        return new Committer(ledger, clockwork, WORKER, lanes, alive::get);
    }

    private static Change change(String run, String mark) {
        return new Change.Command(RunId.of(run), Change.CommandKind.PAUSE, mark);
    }

    private CompletableFuture<Outcome> commit(Committer committer, String name) {
        return commit(committer, name, change(name, name));
    }

    private static CompletableFuture<Outcome> commit(Committer committer, String name, Change change) {
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        Thread.ofVirtual().name(name).start(() -> {
            try {
                outcome.complete(committer.commit(change));
            } catch (RuntimeException | Error thrown) {
                outcome.completeExceptionally(thrown);
            }
        });
        return outcome;
    }

    private void awaitBatches(int count) {
        await().until(() -> ledger.batches.size() >= count);
    }

    private void awaitWaiting(int count) {
        await().until(() -> clockwork.waiting() >= count);
    }

    @Test
    void a_lone_caller_pays_one_round_trip_in_its_own_thread() {
        assertThat(committer(2).commit(change("a", "a"))).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("a"));
        assertThat(clockwork.waiting()).isZero();
    }

    @Test
    void what_comes_while_the_leader_is_busy_goes_as_one_batch() {
        Committer committer = committer(1);
        CountDownLatch first = ledger.hold();
        CompletableFuture<Outcome> leader = commit(committer, "leader");
        awaitBatches(1);
        List<CompletableFuture<Outcome>> others = IntStream.range(0, 5)
                .mapToObj(i -> commit(committer, "run-" + i))
                .toList();
        awaitWaiting(5);
        assertThat(others).noneMatch(CompletableFuture::isDone);
        first.countDown();
        assertThat(others)
                .allSatisfy(other -> assertThat(other.get(10, TimeUnit.SECONDS)).isEqualTo(DONE));
        assertThat(leader).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(ledger.batches).hasSize(2);
        assertThat(ledger.batches.get(1)).hasSize(5);
    }

    @Test
    void callers_that_one_change_let_begin_go_as_one_batch() {
        Committer committer = committer(2);
        ledger.outcome = new Outcome.Applied(Instant.EPOCH, RunState.COMPLETED, List.of(begun("a"), begun("b")));
        committer.commit(change("first", "first"));
        ledger.outcome = DONE;
        clockwork.meanwhile(() -> {
            var unused = commit(committer, "b");
            awaitWaiting(1);
        });
        assertThat(committer.commit(change("a", "a"))).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("first"), List.of("a", "b"));
    }

    private static Claimed begun(String run) {
        RunRef ref = new RunRef(RunId.of(run), 1);
        return new Claimed(
                ref,
                1,
                "task",
                Payload.EMPTY,
                1,
                Control.NONE,
                null,
                0,
                List.of(),
                null,
                new Origin("default", Map.of(), null));
    }

    @Test
    void a_leader_gives_way_only_after_several_callers_or_runs() {
        Committer committer = committer(2);
        AtomicInteger given = new AtomicInteger();
        clockwork.meanwhile(given::incrementAndGet);
        committer.commit(change("a", "a"));
        committer.commit(change("b", "b"));
        ledger.outcome = new Outcome.Applied(Instant.EPOCH, RunState.COMPLETED, List.of(begun("c")));
        committer.commit(change("c", "c"));
        committer.commit(change("d", "d"));
        assertThat(given).as("after one caller, and one run that it let begin").hasValue(0);

        ledger.outcome = new Outcome.Started(
                new RunRef(RunId.of("dag"), 1), false, Instant.EPOCH, List.of(begun("e"), begun("f")));
        committer.commit(change("dag", "dag"));
        ledger.outcome = DONE;
        committer.commit(change("e", "e"));
        assertThat(given).as("after a start that let two begin").hasValue(1);
        committer.commit(change("f", "f"));
        assertThat(given).as("after one caller again").hasValue(1);

        committer.commitAll(List.of(change("g", "g"), change("h", "h")));
        committer.commit(change("i", "i"));
        assertThat(given).as("after two changes").hasValue(2);
    }

    @ParameterizedTest
    @CsvSource({"30, 20, 10", "29, 20, 0", "60, 30, 30"})
    void what_a_lane_leaves_of_a_crowd_goes_at_once_on_another_if_it_is_worth_a_commit(int crowd, int one, int other) {
        Committer committer = committer(2);
        committer.commitAll(IntStream.range(0, 200)
                .mapToObj(i -> change("before-" + i, "before"))
                .toList());
        int before = ledger.batches.size();
        CountDownLatch first = ledger.hold();
        CountDownLatch second = ledger.hold();
        List<CompletableFuture<Outcome>> all = new CopyOnWriteArrayList<>();
        clockwork.meanwhile(() -> {
            clockwork.meanwhile(() -> {});
            IntStream.range(1, crowd).forEach(i -> all.add(commit(committer, "run-" + i)));
            awaitWaiting(crowd - 1);
        });
        all.add(commit(committer, "leader"));

        awaitBatches(before + (other == 0 ? 1 : 2));
        assertThat(sizes(before)).containsExactlyInAnyOrderElementsOf(other == 0 ? List.of(one) : List.of(one, other));
        first.countDown();
        second.countDown();
        await().until(() -> all.size() == crowd);
        assertThat(all).allSatisfy(outcome -> assertThat(outcome).succeedsWithin(10, TimeUnit.SECONDS));
        assertThat(sizes(before).stream().mapToInt(Integer::intValue).sum()).isEqualTo(crowd);
    }

    private List<Integer> sizes(int from) {
        return ledger.batches.stream().skip(from).map(List::size).toList();
    }

    @Test
    void a_batch_has_no_two_changes_of_one_run_and_keeps_their_order() {
        List<Change> changes = List.of(change("a", "a1"), change("b", "b1"), change("a", "a2"), change("a", "a3"));
        assertThat(committer(1).commitAll(changes)).containsExactly(DONE, DONE, DONE, DONE);
        assertThat(ledger.batches).containsExactly(List.of("a1", "b1"), List.of("a2"), List.of("a3"));
    }

    @Test
    void a_batch_has_a_limit() {
        List<Change> changes = IntStream.range(0, 2_500)
                .mapToObj(i -> change("run-" + i, "mark"))
                .toList();
        assertThat(committer(1).commitAll(changes)).hasSize(2_500);
        assertThat(ledger.batches).extracting(List::size).containsExactly(1_000, 1_000, 500);
    }

    @Test
    void no_changes_need_no_commit() {
        assertThat(committer(1).commitAll(List.of())).isEmpty();
        assertThat(ledger.batches).isEmpty();
    }

    @Test
    void two_lanes_send_two_batches_at_once() {
        Committer committer = committer(2);
        CountDownLatch one = ledger.hold();
        CountDownLatch two = ledger.hold();
        CompletableFuture<Outcome> a = commit(committer, "a");
        awaitBatches(1);
        CompletableFuture<Outcome> b = commit(committer, "b");
        awaitBatches(2);
        assertThat(ledger.lanes).containsExactlyInAnyOrder(new Lane(WORKER, 0), new Lane(WORKER, 1));
        one.countDown();
        two.countDown();
        assertThat(a).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(b).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
    }

    @Test
    void another_lane_goes_out_only_when_as_many_wait_as_are_on_their_way() {
        Committer committer = committer(2);
        CountDownLatch one = ledger.hold();
        CompletableFuture<List<Outcome>> pair =
                CompletableFuture.supplyAsync(() -> committer.commitAll(List.of(change("a", "a"), change("b", "b"))));
        awaitBatches(1);
        CompletableFuture<Outcome> c = commit(committer, "c");
        awaitWaiting(1);
        assertThat(ledger.batches).hasSize(1);
        CompletableFuture<Outcome> d = commit(committer, "d");
        assertThat(c).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(d).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("a", "b"), List.of("c", "d"));
        one.countDown();
        assertThat(pair).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(List.of(DONE, DONE));
    }

    @Test
    void a_crowd_is_shared_by_the_lanes() {
        assertThat(batchesOf(99, name -> change(name, name))).containsExactly(1, 1, 50, 49);
    }

    @Test
    void a_crowd_that_only_appends_costs_too_little_to_be_shared() {
        assertThat(batchesOf(
                        99,
                        name -> new Change.Advance(
                                new RunRef(RunId.of(name), 1), 1, List.of(), List.of(), new Move.Stay())))
                .containsExactly(1, 1, 99);
    }

    /** The sizes of the batches when so many come while both lanes are out, and these come back one after the other. */
    private List<Integer> batchesOf(int count, Function<String, Change> changes) {
        Committer committer = committer(2);
        CountDownLatch one = ledger.hold();
        CountDownLatch two = ledger.hold();
        CountDownLatch three = ledger.hold();
        List<CompletableFuture<Outcome>> all = new ArrayList<>(List.of(commit(committer, "a")));
        awaitBatches(1);
        all.add(commit(committer, "b"));
        awaitBatches(2);
        IntStream.range(0, count).forEach(i -> all.add(commit(committer, "run-" + i, changes.apply("run-" + i))));
        awaitWaiting(count);
        one.countDown();
        awaitBatches(3);
        two.countDown();
        assertThat(all.get(1)).succeedsWithin(10, TimeUnit.SECONDS);
        if (ledger.batches.get(2).size() < count) {
            awaitBatches(4);
        }
        three.countDown();
        assertThat(all).allSatisfy(outcome -> assertThat(outcome).succeedsWithin(10, TimeUnit.SECONDS));
        return ledger.batches.stream().map(List::size).toList();
    }

    @Test
    void an_unknown_outcome_is_found_out_by_sending_the_same_batch_again() {
        Committer committer = committer(1);
        CountDownLatch first = ledger.hold();
        ledger.failures.add(() -> new StoreException(StoreException.Kind.UNAVAILABLE, "lost", null));
        CompletableFuture<Outcome> a = commit(committer, "a");
        awaitBatches(1);
        CompletableFuture<Outcome> b = commit(committer, "b");
        awaitWaiting(1);
        first.countDown();
        assertThat(a).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(b).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("a"), List.of("a"), List.of("b"));
    }

    @Test
    void a_store_that_fails_one_batch_fails_no_other() {
        Committer committer = committer(1);
        CountDownLatch first = ledger.hold();
        ledger.failures.add(() -> new StoreException(StoreException.Kind.UNUSABLE, "no rights", null));
        CompletableFuture<Outcome> a = commit(committer, "a");
        awaitBatches(1);
        CompletableFuture<Outcome> b = commit(committer, "b");
        awaitWaiting(1);
        first.countDown();
        assertThat(a).failsWithin(10, TimeUnit.SECONDS).withThrowableThat().withMessageContaining("no rights");
        assertThat(b).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(committer.commit(change("c", "c"))).isEqualTo(DONE);
    }

    @Test
    void a_store_that_breaks_in_the_leaders_hands_loses_no_lane() {
        Committer committer = committer(1);
        ledger.failures.addAll(new ArrayDeque<>(List.<Supplier<? extends Throwable>>of(
                () -> new StackOverflowError("deep"), () -> new IllegalStateException("a bug in the store"))));
        assertThatThrownBy(() -> committer.commit(change("a", "a"))).isInstanceOf(StackOverflowError.class);
        assertThatThrownBy(() -> committer.commit(change("b", "b"))).hasMessage("a bug in the store");
        assertThat(committer.commit(change("c", "c"))).isEqualTo(DONE);
    }

    @Test
    void nothing_is_sent_when_the_lease_has_ended() {
        alive.set(false);
        assertThat(committer(2).commitAll(List.of(change("a", "a"), change("b", "b"))))
                .containsExactly(new Outcome.Fenced(), new Outcome.Fenced());
        assertThat(ledger.batches).isEmpty();
    }

    @Test
    void a_batch_is_not_sent_again_when_the_lease_ended_meanwhile() {
        ledger.failures.add(() -> {
            alive.set(false);
            return new StoreException(StoreException.Kind.UNAVAILABLE, "lost", null);
        });
        assertThat(committer(1).commit(change("a", "a"))).isEqualTo(new Outcome.Fenced());
        assertThat(ledger.batches).containsExactly(List.of("a"));
    }

    @Test
    void a_client_sends_again_until_it_is_closed() {
        Committer client = new Committer(ledger, clockwork, null, 1, alive::get);
        ledger.failures.add(() -> new StoreException(StoreException.Kind.UNAVAILABLE, "lost", null));
        assertThat(client.commit(change("a", "a"))).isEqualTo(DONE);
        ledger.failures.add(() -> {
            alive.set(false);
            return new StoreException(StoreException.Kind.UNAVAILABLE, "lost again", null);
        });
        assertThatThrownBy(() -> client.commit(change("b", "b"))).hasMessage("lost again");
        assertThat(ledger.batches).containsExactly(List.of("a"), List.of("a"), List.of("b"));
    }

    @Test
    void what_moves_to_another_shard_waits_and_holds_up_no_other_change() {
        Committer client = new Committer(ledger, clockwork, null, 1, alive::get);
        ledger.moving.add("b");
        CountDownLatch hold = ledger.hold();
        CompletableFuture<Outcome> first = commit(client, "a");
        awaitBatches(1);
        CompletableFuture<Outcome> moving = commit(client, "b");
        CompletableFuture<Outcome> beside = commit(client, "c");
        awaitWaiting(2);
        hold.countDown();
        assertThat(first.join()).isEqualTo(DONE);
        assertThat(beside.join()).isEqualTo(DONE);
        assertThat(client.commit(change("d", "d"))).isEqualTo(DONE);
        assertThat(moving).isNotDone();
        ledger.moving.remove("b");
        assertThat(moving.join()).isEqualTo(DONE);
    }

    @Test
    void a_client_that_is_closed_waits_no_longer_for_what_moves() {
        Committer client = new Committer(ledger, clockwork, null, 1, alive::get);
        ledger.moving.add("a");
        alive.set(false);
        assertThatThrownBy(() -> client.commit(change("run-a", "a")))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING))
                .hasMessage("The partition of 'run-a' moves to another shard, and this engine was closed meanwhile.");
    }

    @Test
    void a_caller_whose_batch_failed_leaves_nothing_in_the_queue() {
        Committer committer = committer(1);
        ledger.failures.add(() -> new StoreException(StoreException.Kind.UNUSABLE, "no rights", null));
        assertThatThrownBy(() -> committer.commitAll(List.of(change("a", "a1"), change("a", "a2"))))
                .hasMessage("no rights");
        assertThat(committer.commit(change("b", "b"))).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("a1"), List.of("b"));
    }

    @Test
    void a_failed_batch_takes_no_changes_of_other_callers_with_it() {
        Committer committer = committer(1);
        CountDownLatch first = ledger.hold();
        ledger.failures.add(() -> new StoreException(StoreException.Kind.UNUSABLE, "no rights", null));
        CompletableFuture<List<Outcome>> twice =
                CompletableFuture.supplyAsync(() -> committer.commitAll(List.of(change("a", "a1"), change("a", "a2"))));
        awaitBatches(1);
        CompletableFuture<Outcome> other = commit(committer, "other");
        awaitWaiting(1);
        first.countDown();
        assertThat(twice).failsWithin(10, TimeUnit.SECONDS);
        assertThat(other).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(ledger.batches).containsExactly(List.of("a1"), List.of("other"));
    }

    @Test
    void two_lanes_that_come_back_at_once_go_to_two_callers() throws Exception {
        Committer committer = committer(2);
        CountDownLatch one = ledger.hold();
        CountDownLatch two = ledger.hold();
        CompletableFuture<Outcome> a = commit(committer, "a");
        awaitBatches(1);
        CompletableFuture<Outcome> b = commit(committer, "b");
        awaitBatches(2);
        clockwork.close("c");
        clockwork.close("d");
        CompletableFuture<Outcome> c = commit(committer, "c");
        awaitWaiting(1);
        CompletableFuture<Outcome> d = commit(committer, "d");
        awaitWaiting(2);

        // Both lanes come back before the first caller in the queue has woken up.
        one.countDown();
        a.get(10, TimeUnit.SECONDS);
        two.countDown();
        b.get(10, TimeUnit.SECONDS);
        // The second takes the whole queue, so that the first finds its change committed and holds a free lane.
        clockwork.open("d");
        d.get(10, TimeUnit.SECONDS);
        clockwork.open("c");
        c.get(10, TimeUnit.SECONDS);
        assertThat(ledger.batches.getLast()).containsExactly("c", "d");

        assertBothLanesAreThere(committer);
    }

    @Test
    void a_lane_does_not_wait_for_a_caller_that_is_busy_with_another() {
        Committer committer = committer(2);
        CountDownLatch first = ledger.hold();
        CountDownLatch second = ledger.hold();
        List<Change> many = IntStream.range(0, 2_500)
                .mapToObj(i -> change("run-" + i, "mark-" + i))
                .toList();
        CompletableFuture<List<Outcome>> busy = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> busy.complete(committer.commitAll(many)));
        awaitBatches(1);
        CompletableFuture<Outcome> other = commit(committer, "other");
        awaitBatches(2);
        second.countDown();
        assertThat(other).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(ledger.batches).extracting(List::size).containsExactly(1_000, 1_000, 501);
        assertThat(busy).isNotDone();
        first.countDown();
        assertThat(busy).succeedsWithin(10, TimeUnit.SECONDS);
        assertBothLanesAreThere(committer);
    }

    private void assertBothLanesAreThere(Committer committer) {
        int before = ledger.batches.size();
        CountDownLatch one = ledger.hold();
        CountDownLatch two = ledger.hold();
        CompletableFuture<Outcome> e = commit(committer, "e");
        awaitBatches(before + 1);
        CompletableFuture<Outcome> f = commit(committer, "f");
        awaitBatches(before + 2);
        one.countDown();
        two.countDown();
        assertThat(e).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
        assertThat(f).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(DONE);
    }
}
