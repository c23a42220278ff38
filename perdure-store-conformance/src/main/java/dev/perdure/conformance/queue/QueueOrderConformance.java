package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The order in which workers take the runs of a queue: priority, age, and the turns of keys. */
public abstract class QueueOrderConformance extends QueueConformance {
    /** For subclasses. */
    protected QueueOrderConformance() {}

    @Test
    void within_a_queue_priority_comes_first_then_age() {
        declare(queue().concurrency(10));
        ready("old", "young");
        startReady(withPriority(run("urgent"), 5));
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("urgent", "old", "young");
    }

    @Test
    void a_queue_that_is_worked_off_place_by_place_keeps_its_order() {
        declare(queue().concurrency(2));
        ready("a", "b", "c", "d", "e", "f");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        List<Claimed> held = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            List<Claimed> taken = taken(worker, 10);
            taken.forEach(each -> order.add(each.run().id().value()));
            held.addAll(taken);
            if (i == 2) {
                startReady(withPriority(run("urgent"), 5));
                startReady(withPriority(run("lesser"), -5));
                ready("young");
            }
            end(worker, held.removeFirst());
        }

        assertThat(order).containsExactly("a", "b", "c", "d", "urgent", "e", "f", "young", "lesser");
    }

    @Test
    void keys_take_turns_and_the_one_that_was_served_least_recently_is_next() {
        declare(queue().concurrency(1));
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1", "y2");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Claimed claimed = claimedOf(worker);
            order.add(claimed.run().id().value());
            end(worker, claimed);
        }
        readyUnder("a new key", "n1");
        for (int i = 0; i < 3; i++) {
            Claimed claimed = claimedOf(worker);
            order.add(claimed.run().id().value());
            end(worker, claimed);
        }

        assertThat(order).containsExactly("x1", "y1", "x2", "n1", "y2", "x3");
    }

    @Test
    void keys_take_turns_within_one_claim_and_without_any_declaration() {
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1");
        readyUnder("z", "z1", "z2");
        WorkerId worker = join();

        assertThat(claim(worker, 4)).containsExactly("x1", "y1", "z1", "x2");
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("z2", "x3");
    }

    @Test
    void a_key_with_many_waiting_does_not_delay_a_key_with_one() {
        declare(queue().concurrency(2));
        for (int i = 0; i < 50; i++) {
            readyUnder("big", "big" + i);
        }
        readyUnder("small", "small1");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("big0", "small1");
    }

    @Test
    void a_full_key_does_not_stand_before_others() {
        declare(queue().perKey(1));
        for (int i = 0; i < 20; i++) {
            readyUnder("full", "full/" + i);
        }
        readyUnder("other", "other/1");
        WorkerId worker = join();
        claim(worker, 1);

        assertThat(claim(worker, 1)).containsExactly("other/1");
        assertThat(claim(worker, 1)).isEmpty();
    }

    @Test
    void a_worker_gets_only_what_it_can_run_of_a_limited_queue() {
        declare(queue().concurrency(5));
        startReady(withQueue(withDefinition(newRun("other"), "other"), LIMITED).withQueueKey("k"));
        startReady(withQueue(withVersion(newRun("pinned"), "v2"), LIMITED).withQueueKey("k"));
        readyUnder("k", "plain");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("plain");
        assertThat(claimedIds(poll(worker, 10))).isEmpty();
    }

    @Test
    void limited_and_other_queues_take_turns_in_a_worker_that_has_little_room() {
        declare(queue().concurrency(10));
        ready("l1", "l2", "l3");
        startReady("u1");
        startReady("u2");
        startReady("u3");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            order.addAll(claim(worker, 1));
        }

        assertThat(order).hasSize(4).contains("l1", "l2", "u1", "u2");
    }

    @Test
    void they_take_turns_also_if_the_worker_asks_while_it_is_full() {
        declare(queue().concurrency(10));
        ready("l1", "l2", "l3", "l4", "l5", "l6");
        startReady("u1");
        startReady("u2");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            order.addAll(claim(worker, 1));
            assertThat(claim(worker, 0)).isEmpty();
        }

        assertThat(order).hasSize(6).contains("u1", "u2");
    }

    @Test
    void a_run_that_has_to_run_alone_does_so_in_a_limited_queue_too() {
        declare(queue().concurrency(5));
        ready("poison");
        WorkerId worker = join();
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            Claimed claimed = claimedOf(worker);
            apply(worker, advance(claimed.run(), claimed.epoch(), new Move.Recover("broken")));
        }
        ready("healthy");

        List<Claimed> first = taken(worker, 10);
        assertThat(first).hasSize(1).noneMatch(Claimed::alone);
        Poll busy = new Poll(worker, Set.of(DEFINITION), Set.of(LIMITED), null, 10, false);
        assertThat(store().dispatch().poll(busy).claimed()).isEmpty();
        assertThat(store().dispatch().poll(busy).aloneWaits()).isTrue();
        endAll(worker, first);
        assertThat(claim(worker, 10)).containsExactly("poison");
    }

    @Test
    void a_poll_tells_that_only_a_limit_holds_runs_back() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        assertThat(store().dispatch().poll(pollAll(worker, 10)).limited()).isFalse();
        ready("a", "b");
        taken(worker, 10);

        assertThat(store().dispatch().poll(pollAll(worker, 10)).limited()).isTrue();
        assertThat(store().dispatch().poll(poll(worker, 10)).limited()).isFalse();
    }
}
