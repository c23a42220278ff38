package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queue.WhenKeyFull;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.ShardMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Each shard has a share of the limits, and all of them together never exceed one. */
final class SharesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ShardMap TWO = ShardMap.first(List.of("a", "b"));

    private final MemoryStore a = new MemoryStore();
    private final MemoryStore b = new MemoryStore();
    private final ShardedStore store = ShardedStore.over(shard("a", a), shard("b", b));

    @Test
    void a_queue_is_divided_and_shown_as_a_whole() {
        Queue mail = Queue.named("mail")
                .concurrency(5)
                .rate(101, SECOND)
                .perKey(2)
                .ageing(Duration.ofMinutes(1))
                .turns("big", 3);
        store.queues().declare(List.of(mail));
        Queue onA = a.queues().known("mail");
        assertThat(onA.concurrency()).hasValue(3);
        assertThat(onA.rate().orElseThrow().most()).isEqualTo(51);
        Queue onB = b.queues().known("mail");
        assertThat(onB.concurrency()).hasValue(2);
        assertThat(onB.rate().orElseThrow().most()).isEqualTo(50);
        assertThat(store.queues().find("mail").map(QueueInfo::limits)).contains(mail);
        assertThat(store.queues().known("mail").heaviest(false)).isEqualTo(50);

        store.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").concurrency(2)));
        assertThat(store.queues().list())
                .singleElement()
                .satisfies(info -> assertThat(info.limits()).isEqualTo(mail.concurrency(2)));
        store.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").concurrency(Queue.UNLIMITED)));
        assertThat(store.queues().find("mail").orElseThrow().limits().concurrency())
                .isEmpty();
    }

    @Test
    void a_limit_that_cannot_be_divided_is_refused_before_anything_is_written() {
        assertThatThrownBy(() -> store.queues()
                        .declare(List.of(
                                Queue.named("other"), Queue.named("mail").rate(1, SECOND))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The queue 'mail' has rate 1, and the store has 2 shards. Each shard has a share of the limit, of at least 1. Set it to 2 or more, or use one database.");
        assertThatThrownBy(() ->
                        store.permits().declare(List.of(Limiter.named("api").rate(1, SECOND))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("The limiter 'api' has rate 1, and the store has 2 shards.");
        assertThat(store.queues().list()).isEmpty();
        assertThat(store.permits().list()).isEmpty();
    }

    @Test
    void limits_of_keys_are_not_divided() {
        Queue mail = Queue.named("mail")
                .perKey(1)
                .ratePerKey(1, SECOND)
                .burstPerKey(1)
                .whenKeyFull(WhenKeyFull.REFUSE);
        store.queues().declare(List.of(mail));
        for (MemoryStore shard : List.of(a, b)) {
            Queue known = shard.queues().known("mail");
            assertThat(known.perKey()).hasValue(1);
            assertThat(known.ratePerKey().orElseThrow().most()).isEqualTo(1);
            assertThat(known.decidesStarts()).isTrue();
            assertThat(shard.queues().find("mail").orElseThrow().declared().settings())
                    .as("what a process of an older version reads")
                    .containsEntry("per_key", "0")
                    .containsEntry("rate_per_key", "1/PT1S")
                    .containsEntry("when_key_full", "WAIT");
        }
        assertThat(store.queues().find("mail").map(QueueInfo::limits)).contains(mail);

        store.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").perKey(Queue.UNLIMITED)));
        assertThat(a.queues().known("mail").perKey()).isEmpty();
        assertThat(store.queues().find("mail").orElseThrow().limits().perKey()).isEmpty();
        store.queues().apply(new QueueRules.Order.Reset("mail"));
        assertThat(b.queues().known("mail").perKey()).hasValue(1);

        ShardedQueues alone = new ShardedQueues(
                new Shards(List.of(shard("a", a)), ShardMap.first(List.of("a")), Duration.ofSeconds(10)));
        alone.declare(List.of(mail));
        assertThat(a.queues().find("mail").orElseThrow().declared()).isEqualTo(mail);
    }

    @Test
    void a_limit_per_worker_is_whole_on_each_shard_also_if_an_older_version_has_divided_it() {
        Queue mail = Queue.named("mail").perWorker(1);
        store.queues().declare(List.of(mail));
        assertThat(a.queues().known("mail").perWorker()).hasValue(1);
        assertThat(b.queues().known("mail").perWorker()).hasValue(1);
        assertThat(b.queues().find("mail").orElseThrow().declared().settings())
                .as("what a process of an older version reads")
                .containsEntry("per_worker", "0");
        assertThat(store.queues().find("mail").map(QueueInfo::limits)).contains(mail);

        Map<String, String> older = Map.of("per_worker", "2", "whole:per_worker", "4", "shards", "2");
        for (MemoryStore shard : List.of(a, b)) {
            shard.queues().declare(List.of(Queue.of("older", older)));
            assertThat(shard.queues().known("older").perWorker()).hasValue(4);
        }
    }

    @Test
    void a_worker_of_all_shards_holds_no_more_than_its_own_limit() {
        store.queues().declare(List.of(Queue.named("mail").perWorker(3)));
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        for (int i = 0; i < 20; i++) {
            NewRun run = new NewRun(RunId.of("run-" + i), "order", Payload.EMPTY, i, "mail", 0, null, null);
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(run, null)));
        }
        Poll poll = new Poll(worker, Set.of("order"), Set.of("mail"), null, 2, true);
        assertThat(store.dispatch().poll(poll).claimed()).hasSize(2);
        assertThat(store.dispatch().poll(poll).claimed()).hasSize(1);
        assertThat(store.dispatch().poll(poll).claimed()).isEmpty();
    }

    @Test
    void a_run_whose_key_another_shard_counts_does_not_begin_also_if_its_store_has_started_it() {
        store.queues().declare(List.of(Queue.named("mail").perKey(1).whenKeyFull(WhenKeyFull.CANCEL_OLDEST)));
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        String key = "k"; // its partition is on shard b
        for (MemoryStore shard : List.of(a, b)) { // as a process does that has not heard of the limit
            for (String id : List.of(shard == a ? "on-a" : "k/1", shard == a ? "also-on-a" : "k/2")) {
                NewRun run = new NewRun(RunId.of(id), "order", Payload.EMPTY, 1, "mail", 0, null, null);
                shard.ledger().apply(Lane.client(0), List.of(new Change.Start(run.withQueueKey(key), null)));
            }
        }
        Poll poll = new Poll(worker, Set.of("order"), Set.of("mail"), null, 100, true);
        assertThat(store.dispatch().poll(poll).claimed())
                .extracting(claimed -> claimed.run().id().value())
                .containsExactly("k/2");
        assertThat(a.runs().find(RunId.of("on-a")).orElseThrow().info().state()).isEqualTo(RunState.READY);
    }

    @Test
    void a_call_of_an_object_with_a_key_that_is_counted_elsewhere_is_refused() {
        store.queues().declare(List.of(Queue.named("mail").perKey(1)));
        ObjectKey object = new ObjectKey("counter", "c");
        RunId id = RunId.of(store.parts().prefix(object) + "call");
        NewRun call = new NewRun(id, "add", Payload.EMPTY, 1, "mail", 0, null, null)
                .on(new ObjectCall(object, ObjectCall.Hold.EXCLUSIVE))
                .withQueueKey("k");
        assertThat(store.ledger().apply(Lane.client(0), List.of(new Change.Start(call, null))))
                .containsExactly(new Outcome.Refused(
                        "The queue 'mail' limits keys, and the id '%s' leads to another partition than that of the key 'k', which counts its runs. Start the call of the object without the key."
                                .formatted(id)));
        assertThat(store.runs().find(id)).isEmpty();
    }

    @Test
    void a_limiter_is_divided_and_shown_as_a_whole() {
        Limiter api = Limiter.named("api").concurrency(3).rate(10, SECOND).burst(4);
        store.permits().declare(List.of(api));
        Limiter onA = a.permits().find("api").orElseThrow().limits();
        assertThat(onA.concurrency()).hasValue(2);
        assertThat(onA.rate().orElseThrow().most()).isEqualTo(5);
        assertThat(store.permits().find("api").orElseThrow().limits()).isEqualTo(api);
        store.permits().apply(new Permits.Order.Limit(Limiter.named("api").concurrency(9)));
        assertThat(store.permits().list())
                .singleElement()
                .satisfies(info -> assertThat(info.limits()).isEqualTo(api.concurrency(9)));
    }

    @Test
    void no_shard_asks_for_permits_before_the_call_has_asked_all_shards_for_theirs() {
        // Its forwarders do not look on their own whether something waits: they would ask for the permit, too.
        MemoryStore first = new MemoryStore();
        MemoryStore second = new MemoryStore();
        ShardedStore quiet = ShardedStore.settling(shard("a", first), shard("b", second));
        quiet.permits().declare(List.of(Limiter.named("api").concurrency(2)));
        WorkerId worker = new WorkerId(UUID.randomUUID());
        quiet.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        String onA = MembershipTest.onShard(quiet, 0).value();
        List<Permits.Request> requests = Stream.of(
                        onA, onA + "/2", MembershipTest.onShard(quiet, 1).value())
                .map(id -> new Change.Start(MembershipTest.run(id), worker))
                .map(start -> quiet.ledger()
                        .apply(new Lane(worker, 0), List.of(start))
                        .getFirst())
                .map(started -> new Permits.Request("api", ((Outcome.Started) started).run(), 1, 3, 1))
                .toList();
        Shards both = new Shards(List.of(shard("a", first), shard("b", second)), TWO, Duration.ofSeconds(10));
        List<Long> heldThen = new ArrayList<>();
        ShardedPermits permits = new ShardedPermits(
                both,
                both.indexes(),
                waiting ->
                        heldThen.add(quiet.permits().find("api").orElseThrow().held()));

        assertThat(permits.take(worker, requests))
                .containsExactly(Permits.Answer.HELD, Permits.Answer.WAITS, Permits.Answer.HELD);
        assertThat(heldThen).containsExactly(2L);
    }

    @Test
    void no_more_runs_begin_than_the_limit_allows_wherever_they_are() {
        store.queues().declare(List.of(Queue.named("mail").concurrency(3)));
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        for (int i = 0; i < 20; i++) {
            NewRun run = new NewRun(RunId.of("run-" + i), "order", Payload.EMPTY, i, "mail", 0, null, null);
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(run, null)));
        }
        Poll poll = new Poll(worker, Set.of("order"), Set.of("mail"), null, 100, true);
        assertThat(store.dispatch().poll(poll).claimed()).hasSize(3);
        assertThat(store.dispatch().poll(poll).claimed()).isEmpty();
        assertThat(store.queues().find("mail").orElseThrow().load().begun()).isEqualTo(3);
    }

    @Test
    void limits_are_divided_again_when_there_are_more_shards_and_fewer() {
        Queue declared = Queue.named("mail").concurrency(12);
        store.queues().declare(List.of(declared));
        store.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").rate(6, SECOND)));
        store.permits().declare(List.of(Limiter.named("api").concurrency(6)));
        MemoryStore c = new MemoryStore();
        c.queues().declare(List.of(a.queues().known("mail"))); // as a command copies it to a new shard
        Shards three = three(c);
        new ShardedQueues(three).declare(List.of());
        new ShardedPermits(three, three.indexes()).declare(List.of());
        for (MemoryStore shard : List.of(a, b, c)) {
            assertThat(shard.queues().known("mail").concurrency()).hasValue(4);
        }
        assertThat(a.queues().known("mail").rate().orElseThrow().most()).isEqualTo(2);
        assertThat(a.permits().find("api").orElseThrow().limits().concurrency()).hasValue(2);
        assertThat(new ShardedQueues(three).find("mail").map(QueueInfo::limits)).contains(declared.rate(6, SECOND));

        store.queues().declare(List.of());
        assertThat(a.queues().known("mail").concurrency()).hasValue(6);
        assertThat(b.queues().known("mail").rate().orElseThrow().most()).isEqualTo(3);
    }

    @Test
    void a_limit_that_became_too_small_to_be_divided_stays_as_it_is() {
        store.queues().declare(List.of(Queue.named("mail").rate(2, SECOND)));
        new ShardedQueues(three(new MemoryStore())).declare(List.of());
        assertThat(a.queues().known("mail").rate().orElseThrow().most()).isEqualTo(1);
    }

    /** The shards with another one that has no partitions yet. */
    private Shards three(MemoryStore c) {
        c.exchange().orElseThrow().join(new Membership("c", TWO));
        return new Shards(List.of(shard("a", a), shard("b", b), shard("c", c)), TWO, Duration.ofSeconds(10));
    }

    @Test
    void a_new_shard_gets_what_was_set_after_it_was_added() {
        MemoryStore c = new MemoryStore();
        c.queues().declare(List.of(Queue.named("mail").concurrency(6)));
        c.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").perKey(3)));
        c.queues().apply(new QueueRules.Order.Pause("mail", "as it was then"));
        store.queues().declare(List.of(Queue.named("mail").concurrency(12)));
        store.queues().apply(new QueueRules.Order.Limit(Queue.named("mail").rate(6, SECOND)));
        store.permits().declare(List.of(Limiter.named("api").concurrency(6)));
        store.permits().apply(new Permits.Order.Limit(Limiter.named("api").rate(9, SECOND)));
        store.permits().apply(new Permits.Order.Pause("api", "it is down"));
        Shards three = three(c);
        new ShardedQueues(three).declare(List.of());
        new ShardedPermits(three, three.indexes()).declare(List.of());
        QueueInfo mail = c.queues().find("mail").orElseThrow();
        assertThat(mail.limits().concurrency()).hasValue(4);
        assertThat(mail.limits().rate().orElseThrow().most()).isEqualTo(2);
        assertThat(mail.limits().perKey()).isEmpty();
        assertThat(mail.paused()).isEmpty();
        LimiterInfo api = c.permits().find("api").orElseThrow();
        assertThat(api.limits().concurrency()).hasValue(2);
        assertThat(api.limits().rate().orElseThrow().most()).isEqualTo(3);
        assertThat(api.paused()).contains("it is down");
    }

    @Test
    void a_process_without_all_shards_of_the_newest_map_sets_no_limits() {
        MemoryStore one = new MemoryStore();
        MemoryStore other = new MemoryStore();
        ShardMap newer = TWO.with(7, "c");
        one.exchange().orElseThrow().join(new Membership("a", newer));
        other.exchange().orElseThrow().join(new Membership("b", newer));
        Shards old = new Shards(List.of(shard("a", one), shard("b", other)), TWO, Duration.ofSeconds(10));
        Limiter api = Limiter.named("api").concurrency(6);
        Queue mail = Queue.named("mail").concurrency(6);
        List<ThrowingCallable> refused = List.of(
                () -> new ShardedPermits(old, List.of(1)).declare(List.of(api)),
                () -> new ShardedPermits(old, old.indexes()).apply(new Permits.Order.Limit(api)),
                () -> new ShardedQueues(old).declare(List.of(mail)),
                () -> new ShardedQueues(old).apply(new QueueRules.Order.Limit(mail)));
        for (ThrowingCallable each : refused) {
            assertThatThrownBy(each)
                    .isInstanceOf(StoreException.class)
                    .hasMessage(
                            "The map of version 2 has the shards [a, b, c], and this process has [a, b], so it sets no limits. Start it again with all shards.");
        }
        assertThat(one.permits().list()).isEmpty();
        assertThat(one.queues().list()).isEmpty();
    }

    @Test
    void a_limiter_that_a_step_declares_is_on_the_shard_of_its_run_although_another_one_is_down() {
        BreakableStore down = new BreakableStore(a);
        Shards two = new Shards(List.of(shard("a", down.store()), shard("b", b)), TWO, SECOND);
        down.down(true);
        ShardedPermits ofWorker = new ShardedPermits(two, List.of(1));
        assertThatThrownBy(() -> ofWorker.declare(List.of(Limiter.named("api").concurrency(6))))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("'a'");
        assertThat(b.permits().find("api").orElseThrow().limits().concurrency()).hasValue(3);
    }
}
