package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.conformance.StoreConformance;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Keys that get more turns than others, and priorities that rise with the time that a run waits. */
public abstract class TurnConformance extends StoreConformance {
    private static final String LINE = "line";

    /** For subclasses. */
    protected TurnConformance() {}

    private void declare(Queue queue) {
        store().queues().declare(List.of(queue));
    }

    private static Queue queue() {
        return Queue.named(LINE);
    }

    private void ready(String key, int count) {
        for (int i = 0; i < count; i++) {
            ready(key + i, key, 0);
        }
    }

    private void ready(String id, String key, int priority) {
        NewRun run = withPriority(withQueue(newRun(id), LINE), priority);
        startReady(key.isEmpty() ? run : run.withQueueKey(key));
        advance(Duration.ofMillis(1));
    }

    private List<Claimed> claim(WorkerId worker, int limit) {
        return store().dispatch()
                .poll(new Poll(worker, Set.of(DEFINITION), Set.of(LINE), null, limit, true))
                .claimed();
    }

    private List<String> ids(WorkerId worker, int limit) {
        return claim(worker, limit).stream()
                .map(claimed -> claimed.run().id().value())
                .toList();
    }

    /** The first so many, claimed so many at a time. A poll may take fewer than it could, so it is repeated. */
    private List<String> first(int count, int each) {
        WorkerId worker = join();
        List<String> taken = new ArrayList<>();
        while (taken.size() < count) {
            taken.addAll(ids(worker, Math.min(each, count - taken.size())));
        }
        return taken;
    }

    private long turnsOf(String key, int count, int each) {
        return first(count, each).stream().filter(id -> id.startsWith(key)).count();
    }

    // ---- turns

    @Test
    void a_key_with_three_turns_gets_three_of_four_in_one_claim() {
        declare(queue().turns("pays", 3));
        ready("free", 30);
        ready("pays", 30);
        assertThat(turnsOf("pays", 20, 20)).isEqualTo(15);
    }

    @Test
    void a_key_with_three_turns_gets_three_of_four_when_runs_are_claimed_one_by_one() {
        declare(queue().concurrency(100).turns("pays", 3));
        ready("free", 20);
        ready("pays", 20);
        assertThat(turnsOf("pays", 20, 1)).isEqualTo(15);
    }

    @Test
    void an_operator_changes_the_turns_of_a_key_also_for_runs_that_wait() {
        declare(queue().turns("pays", 3));
        ready("free", 20);
        ready("pays", 20);
        store().queues().apply(new Order.Limit(queue().turns("pays", 1)));
        assertThat(turnsOf("pays", 20, 2)).isEqualTo(10);
    }

    @Test
    void turns_are_shared_in_proportion_among_several_keys() {
        declare(queue().turns("a", 2).turns("b", 5));
        List.of("a", "b", "c").forEach(key -> ready(key, 40));
        List<String> taken = first(40, 2);
        assertThat(taken).filteredOn(id -> id.startsWith("a")).hasSize(10);
        assertThat(taken).filteredOn(id -> id.startsWith("b")).hasSize(25);
        assertThat(taken).filteredOn(id -> id.startsWith("c")).hasSize(5);
    }

    @Test
    void a_key_that_had_nothing_waiting_has_saved_no_turns() {
        declare(queue());
        ready("busy", 40);
        WorkerId worker = join();
        ids(worker, 20);
        ready("late", 10);
        List<String> next = ids(worker, 8);
        assertThat(next).filteredOn(id -> id.startsWith("late")).hasSizeBetween(4, 5);
        assertThat(next.getFirst()).startsWith("late");
    }

    @Test
    void priority_comes_before_turns() {
        declare(queue().turns("pays", 3));
        ready("pays", 5);
        ready("urgent", "free", 1);
        assertThat(ids(join(), 1)).containsExactly("urgent");
    }

    // ---- ageing

    @Test
    void a_run_of_low_priority_passes_others_when_it_has_waited_long_enough() {
        declare(queue().ageing(Duration.ofMinutes(1)));
        ready("old", "", 0);
        advance(Duration.ofMinutes(3));
        ready("young", "", 2);
        ready("urgent", "", 5);
        assertThat(ids(join(), 3)).containsExactly("urgent", "old", "young");
    }

    @Test
    void without_ageing_a_run_of_low_priority_waits() {
        declare(queue().concurrency(10));
        ready("old", "", 0);
        advance(Duration.ofHours(1));
        ready("young", "", 1);
        assertThat(ids(join(), 3)).containsExactly("young", "old");
    }

    @Test
    void runs_of_keys_age_too() {
        declare(queue().ageing(Duration.ofMinutes(1)).concurrency(10));
        ready("old", "x", 0);
        ready("older-of-y", "y", -5);
        advance(Duration.ofMinutes(4));
        ready("young", "x", 3);
        ready("y", "y", 0);
        WorkerId worker = join();
        assertThat(ids(worker, 1)).containsExactly("old");
        assertThat(ids(worker, 3)).containsExactly("young", "y", "older-of-y");
    }

    @Test
    void a_key_with_runs_of_many_priorities_does_not_hold_up_another() {
        declare(queue().ageing(Duration.ofMinutes(1)).perKey(1));
        List<Change> starts = IntStream.range(0, 1_002)
                .<Change>mapToObj(i -> new Change.Start(
                        withPriority(withQueue(newRun("x/" + i), LINE), -i).withQueueKey("x"), null))
                .toList();
        assertThat(store().ledger().apply(Lane.client(0), starts)).allMatch(Outcome.Started.class::isInstance);
        ready("y", "y", -2_000);
        ready("z", "z", -2_000);
        WorkerId worker = join();

        List<String> taken = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            taken.addAll(ids(worker, 10));
        }
        assertThat(taken).containsExactlyInAnyOrder("x/0", "y", "z");
    }

    @Test
    void runs_at_work_count_when_a_queue_whose_priorities_rise_gets_its_first_limit() {
        declare(queue().ageing(Duration.ofMinutes(1)));
        ready("a", "", 0);
        ready("b", "", 0);
        WorkerId worker = join();
        List<Claimed> taken = claim(worker, 10);
        assertThat(taken).hasSize(2);
        store().queues().apply(new Order.Limit(queue().concurrency(2)));
        ready("c", "", 0);
        assertThat(claim(worker, 10)).isEmpty();
        apply(worker, advance(taken.getFirst().run(), taken.getFirst().epoch(), complete("1")));
        assertThat(ids(worker, 10)).containsExactly("c");
    }

    @Test
    void an_operator_turns_ageing_off() {
        declare(queue().ageing(Duration.ofMinutes(1)).concurrency(10));
        store().queues().apply(new Order.Limit(queue().ageing(Duration.ZERO)));
        ready("old", "", 0);
        advance(Duration.ofHours(1));
        ready("young", "", 1);
        assertThat(ids(join(), 3)).containsExactly("young", "old");
    }
}
