package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** What operators change in a queue and read of it, and the reason why a run waits. */
public abstract class QueueOperatorConformance extends QueueConformance {
    /** For subclasses. */
    protected QueueOperatorConformance() {}

    @Test
    void nothing_is_taken_from_a_paused_queue_until_it_is_resumed() {
        declare(queue());
        ready("a");
        WorkerId worker = join();
        assertThat(store().queues().apply(new Order.Pause(LIMITED, "the API is down")))
                .isTrue();

        assertThat(claim(worker, 10)).isEmpty();
        assertThat(((Outcome.Started) apply(worker, new Change.Start(run("b"), worker))).owned())
                .isFalse();
        assertThat(info().paused()).contains("the API is down");
        store().queues().apply(new Order.Resume(LIMITED));
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("a", "b");
        assertThat(info().paused()).isEmpty();
    }

    @Test
    void a_change_holds_at_once_survives_a_declaration_and_is_reset() {
        declare(queue().concurrency(1).perKey(1));
        ready("a", "b", "c", "d");
        WorkerId worker = join();
        assertThat(claim(worker, 10)).containsExactly("a");
        store().queues().apply(new Order.Limit(queue().concurrency(2)));
        assertThat(claim(worker, 10)).containsExactly("b");

        declare(queue().concurrency(1).perKey(7));
        assertThat(info().declared()).isEqualTo(queue().concurrency(1).perKey(7));
        assertThat(info().changed()).isEqualTo(queue().concurrency(2));
        assertThat(info().limits()).isEqualTo(queue().concurrency(2).perKey(7));
        store().queues().apply(new Order.Limit(queue().concurrency(Queue.UNLIMITED)));
        assertThat(info().limits().concurrency()).isEmpty();
        assertThat(claim(worker, 1)).containsExactly("c");
        store().queues().apply(new Order.Reset(LIMITED));
        assertThat(info().changed()).isEqualTo(queue());
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void an_unknown_queue_is_not_changed() {
        assertThat(store().queues().apply(new Order.Pause("nowhere", ""))).isFalse();
        assertThat(store().queues().apply(new Order.Resume("nowhere"))).isFalse();
        assertThat(store().queues().apply(new Order.Reset("nowhere"))).isFalse();
        assertThat(store().queues().apply(new Order.Limit(Queue.named("nowhere").concurrency(1))))
                .isFalse();
        assertThat(store().queues().find("nowhere")).isEmpty();
    }

    @Test
    void a_queue_tells_what_waits_and_runs_in_all_and_by_key() {
        declare(queue().concurrency(3));
        readyUnder("x", "x1", "x2", "x3", "x4");
        readyUnder("y", "y1");
        WorkerId worker = join();
        List<Claimed> claimed = taken(worker, 10);
        Claimed sleeper = claimed.getFirst();
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));

        QueueInfo.Load load = info().load();
        assertThat(load.waiting()).isEqualTo(2);
        assertThat(load.begun()).isEqualTo(3);
        assertThat(load.atWork()).isEqualTo(2);
        assertThat(load.oldest()).contains(BEGINNING.plusMillis(2));
        assertThat(store().queues().keys(LIMITED, 10))
                .extracting(
                        QueueInfo.Key::key,
                        key -> key.load().waiting(),
                        key -> key.load().begun(),
                        key -> key.load().atWork())
                .containsExactly(tuple("x", 2L, 2L, 1L), tuple("y", 0L, 1L, 1L));
        advance(Duration.ofMinutes(1));
        assertThat(info().load().lastMinute()).isEqualTo(3);
        assertThat(store().queues().list()).extracting(QueueInfo::name).containsExactly(LIMITED);
    }

    private List<Tuple> takenInLastMinute() {
        return store().queues().keys(LIMITED, 10).stream()
                .map(key -> tuple(key.key(), key.load().lastMinute()))
                .toList();
    }

    @Test
    void a_key_tells_how_many_runs_workers_took_in_the_last_full_minute() {
        declare(queue().concurrency(10));
        readyUnder("x", "x1", "x2");
        readyUnder("y", "y1");
        ready("free");
        WorkerId worker = join();
        for (Claimed each : taken(worker, 10)) {
            if (each.run().id().value().equals("x1")) {
                apply(worker, advance(each.run(), each.epoch(), sleep(Duration.ofSeconds(10))));
            }
        }
        advance(Duration.ofSeconds(10));
        assertThat(claim(worker, 10)).containsExactly("x1");
        assertThat(takenInLastMinute()).containsExactlyInAnyOrder(tuple("x", 0L), tuple("y", 0L), tuple("", 0L));

        advance(Duration.ofSeconds(50));
        readyUnder("y", "y2");
        claim(worker, 10);
        assertThat(takenInLastMinute()).containsExactlyInAnyOrder(tuple("x", 3L), tuple("y", 1L), tuple("", 1L));
        assertThat(info().load().lastMinute()).isEqualTo(5);
        advance(Duration.ofMinutes(1));
        assertThat(takenInLastMinute()).containsExactlyInAnyOrder(tuple("x", 0L), tuple("y", 1L), tuple("", 0L));
        advance(Duration.ofMinutes(1));
        assertThat(takenInLastMinute()).containsExactlyInAnyOrder(tuple("x", 0L), tuple("y", 0L), tuple("", 0L));
    }

    @Test
    void a_queue_without_limits_has_begun_only_what_workers_hold() {
        declare(queue());
        readyUnder("x", "x1", "x2");
        ready("free");
        WorkerId worker = join();
        Claimed sleeper = taken(worker, 10).stream()
                .filter(each -> each.run().id().value().equals("x1"))
                .findFirst()
                .orElseThrow();
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));

        assertThat(info().load().begun()).isEqualTo(2);
        assertThat(info().load().atWork()).isEqualTo(2);
        assertThat(store().queues().keys(LIMITED, 10))
                .extracting(QueueInfo.Key::key, key -> key.load().begun())
                .containsExactly(tuple("", 1L), tuple("x", 1L));
    }

    @Test
    void a_queue_that_is_not_declared_is_listed_while_runs_wait_in_it_or_are_at_work() {
        assertThat(store().queues().list()).isEmpty();
        startReady("a");
        startReady("b");
        WorkerId worker = join();
        Claimed first = claimOne(worker);

        assertThat(store().queues().list()).singleElement().satisfies(queue -> {
            assertThat(queue.name()).isEqualTo(QUEUE);
            assertThat(queue.known()).isFalse();
            assertThat(queue.limits()).isEqualTo(Queue.named(QUEUE));
            assertThat(queue.load()).isEqualTo(new QueueInfo.Load(1, Optional.of(BEGINNING), 1, 1, 0));
        });
        assertThat(store().queues().find(QUEUE))
                .isEqualTo(store().queues().list().stream().findFirst());
        assertThat(store().queues().keys(QUEUE, 10))
                .extracting(QueueInfo.Key::key)
                .containsExactly("");
        assertThat(store().queues().apply(new Order.Pause(QUEUE, ""))).isFalse();
        declare(queue());
        assertThat(store().queues().list())
                .extracting(QueueInfo::name, QueueInfo::known)
                .containsExactly(tuple(QUEUE, false), tuple(LIMITED, true));

        end(worker, first);
        end(worker, claimOne(worker));
        assertThat(store().queues().list()).extracting(QueueInfo::name).containsExactly(LIMITED);
        assertThat(store().queues().find(QUEUE)).isEmpty();
    }

    @Test
    void a_queue_with_keys_is_known_from_its_first_claim() {
        startReady(newRun("a").withQueueKey("x"));
        assertThat(store().queues().find(QUEUE).map(QueueInfo::known)).contains(false);
        WorkerId worker = join();
        end(worker, claimOne(worker));
        assertThat(store().queues().find(QUEUE).map(QueueInfo::known)).contains(true);
    }

    private WorkerId joinServing(String queue) {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store().leases()
                .join(new Leases.Joining(
                        worker,
                        Set.of(DEFINITION),
                        null,
                        Duration.ofMinutes(10),
                        1,
                        Set.of(),
                        Set.of(queue),
                        Map.of()));
        return worker;
    }

    @Test
    void a_ready_run_says_that_no_worker_takes_runs_from_its_queue() {
        WorkerId elsewhere = joinServing("elsewhere");
        startReady(newRun("undeclared"));
        assertThat(reasonOf("undeclared")).isEqualTo("No live worker takes runs from the queue 'default'.");
        declare(queue().concurrency(1));
        ready("a");
        assertThat(reasonOf("a")).isEqualTo("No live worker takes runs from the queue 'limited'.");
        joinServing(LIMITED);
        assertThat(reasonOf("a")).isEmpty();
        join();
        assertThat(reasonOf("undeclared")).isEmpty();
        store().leases().leave(elsewhere);
    }

    @Test
    void a_ready_run_says_that_every_worker_of_its_queue_is_at_its_limit() {
        declare(queue().perWorker(1));
        joinServing("elsewhere");
        WorkerId one = joinServing(LIMITED);
        WorkerId two = joinServing(LIMITED);
        ready("a", "b", "c");
        claim(one, 10);
        assertThat(reasonOf("c")).isEmpty();
        claim(two, 10);
        assertThat(reasonOf("c")).isEqualTo("Every worker of the queue 'limited' is at its limit of 1.");
    }

    @Test
    void a_ready_run_says_why_no_worker_takes_it() {
        declare(queue().concurrency(4).perKey(1));
        WorkerId worker = join();
        readyUnder("x", "x1", "x2");
        ready("a", "b", "c", "d");
        assertThat(reasonOf("x2")).isEmpty();
        claim(worker, 1);
        assertThat(reasonOf("x2"))
                .isEqualTo("The key 'x' of the queue 'limited' is full: 1 of 1 places are taken, by 'x1'.");
        assertThat(reasonOf("a")).isEmpty();
        claim(worker, 10);
        assertThat(reasonOf("d"))
                .isEqualTo("The queue 'limited' is full: 4 of 4 places are taken, by 'x1', 'a', 'b' and 1 more.");
        store().queues().apply(new Order.Pause(LIMITED, "the API is down"));
        assertThat(reasonOf("d")).isEqualTo("The queue 'limited' is paused: the API is down");
        store().queues().apply(new Order.Resume(LIMITED));
        store().queues().apply(new Order.Limit(queue().concurrency(5)));
        assertThat(reasonOf("d")).isEmpty();
    }

    @Test
    void a_woken_run_that_holds_its_place_has_no_reason_to_wait() {
        declare(queue().concurrency(1));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));
        assertThat(reasonOf("next")).isEqualTo("The queue 'limited' is full: 1 of 1 places are taken, by 'sleeper'.");
        command(sleeper.run(), Change.CommandKind.CANCEL, "enough");

        assertThat(stateOf(sleeper.run())).isEqualTo(RunState.READY);
        assertThat(reasonOf("sleeper")).isEmpty();
    }
}
