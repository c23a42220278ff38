package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Division;
import dev.perdure.spi.shard.Places.Kind;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Need;
import dev.perdure.spi.shard.Places.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a store has of limits that several shards have together. The store is shard "a", and "b" is another one. */
public abstract class PlacesConformance extends StoreConformance {
    private static final Limit MAIL = new Limit(Kind.QUEUE, "mail");
    private static final List<String> TWO = List.of("a", "b");
    private static final Map<String, String> DECLARED =
            Map.of("concurrency", "0", "whole:concurrency", "4", "shards", "2");
    private static final Duration LATER = Duration.ofSeconds(4);

    /** For subclasses. */
    protected PlacesConformance() {}

    private Places places() {
        return store().exchange().orElseThrow().places();
    }

    private void open(int places) {
        places().open(MAIL, DECLARED, new Division(1, 4, TWO), places);
    }

    private int has() {
        return places().share(MAIL).orElseThrow().places();
    }

    private Poll mail(WorkerId worker) {
        return new Poll(worker, Set.of(DEFINITION), Set.of("mail"), null, 100, true);
    }

    private void start(int count) {
        IntStream.range(0, count).forEach(i -> startReady(withQueue(newRun("mail-" + i), "mail")));
    }

    private static Request asks(int wanted, int has, long sent) {
        return new Request(MAIL, 1, "b", has, wanted, sent);
    }

    @Test
    void claims_give_as_many_places_as_the_share_has() {
        open(2);
        WorkerId worker = join();
        start(4);
        assertThat(claimedIds(mail(worker))).hasSize(2);
        assertThat(claimedIds(mail(worker))).isEmpty();
        assertThat(places().receive(MAIL, 1, "b", 1)).isEqualTo(1);
        assertThat(claimedIds(mail(worker))).hasSize(1);
    }

    @Test
    void a_share_without_places_gives_none() {
        open(0);
        start(1);
        assertThat(claimedIds(mail(join()))).isEmpty();
        assertThat(places().needs()).containsExactly(new Need(MAIL, 1, 0, 1, Map.of()));
    }

    @Test
    void a_queue_that_is_known_does_not_open_again() {
        store().queues().declare(List.of(Queue.named("mail").concurrency(3)));
        open(2);
        assertThat(places().shares()).isEmpty();
        assertThat(store().queues().find("mail").map(QueueInfo::limits))
                .contains(Queue.named("mail").concurrency(3));
    }

    @Test
    void free_places_are_sent_and_a_total_counts_once() {
        open(4);
        WorkerId worker = join();
        start(1);
        assertThat(claimedIds(mail(worker))).hasSize(1);
        assertThat(places().give(asks(2, 0, 0))).hasValue(2);
        assertThat(has()).isEqualTo(2);
        assertThat(places().give(asks(9, 0, 0))).as("never one that was given").hasValue(3);
        assertThat(places().give(asks(9, 0, 0))).hasValue(3);
        assertThat(has()).isEqualTo(1);

        assertThat(places().receive(MAIL, 1, "b", 2)).isEqualTo(2);
        assertThat(places().receive(MAIL, 1, "b", 2)).isZero();
        assertThat(places().receive(MAIL, 1, "b", 1)).as("late").isZero();
        assertThat(places().receive(MAIL, 1, "c", 1)).as("another one's").isEqualTo(1);
        assertThat(places().receive(MAIL, 2, "b", 9)).as("of another division").isZero();
        assertThat(has()).isEqualTo(4);
    }

    @Test
    void what_the_asking_shard_has_sent_comes_with_its_question() {
        open(0);
        assertThat(places().give(asks(1, 0, 3))).hasValue(1);
        assertThat(has()).isEqualTo(2);
    }

    @Test
    void a_run_that_gave_its_place_back_does_not_have_it_again_when_it_is_resumed() {
        open(1);
        WorkerId worker = join();
        start(1);
        RunRef claimed = claimOneOf(worker);
        apply(worker, advance(claimed, 1, sleep(Duration.ofSeconds(1)), step(1, "1")));
        command(claimed, Change.CommandKind.PAUSE, "stop");
        assertThat(stateOf(claimed)).isEqualTo(RunState.PAUSED);
        assertThat(places().give(asks(1, 0, 0))).hasValue(1);
        command(claimed, Change.CommandKind.RESUME, "go on");
        advance(LATER);
        assertThat(claimedIds(mail(worker))).isEmpty();
        assertThat(places().receive(MAIL, 1, "b", 1)).isEqualTo(1);
        assertThat(claimedIds(mail(worker))).hasSize(1);
    }

    private RunRef claimOneOf(WorkerId worker) {
        return store().dispatch().poll(mail(worker)).claimed().getFirst().run();
    }

    @Test
    void a_shard_whose_own_runs_wait_sets_places_aside_until_nobody_asks_any_more() {
        open(1);
        WorkerId worker = join();
        start(3);
        RunRef first = claimOneOf(worker);
        advance(LATER);
        assertThat(places().give(asks(1, 0, 0))).as("it is in use").hasValue(0);
        apply(worker, advance(first, 1, complete("done")));
        assertThat(claimedIds(mail(worker))).as("set aside").isEmpty();
        assertThat(places().give(asks(1, 0, 0))).hasValue(1);
        assertThat(has()).isZero();

        assertThat(places().receive(MAIL, 1, "b", 1)).isEqualTo(1);
        assertThat(places().give(asks(1, 0, 1))).as("it has just come").hasValue(1);
        RunRef second = claimOneOf(worker);
        advance(LATER);
        assertThat(places().give(asks(1, 0, 1))).hasValue(1);
        apply(worker, advance(second, 1, complete("done")));
        assertThat(claimedIds(mail(worker))).isEmpty();
        advance(LATER);
        places().needs();
        assertThat(claimedIds(mail(worker))).hasSize(1);
    }

    @Test
    void a_run_that_waits_is_seen_behind_many_that_hold_their_places() {
        int many = 101;
        places().open(MAIL, DECLARED, new Division(1, 300, TWO), many);
        WorkerId worker = join();
        start(many);
        while (store().leases().owned(worker).size() < many) {
            store().dispatch().poll(mail(worker));
        }
        store().leases().owned(worker).forEach(owned -> apply(worker, advance(owned.run(), 1, new Move.Yield())));
        startReady(withQueue(newRun("later"), "mail"));
        assertThat(places().needs()).containsExactly(new Need(MAIL, 1, many, 1, Map.of()));
    }

    @Test
    void a_division_is_joined_by_lowering_and_settled_once() {
        open(3);
        places().receive(MAIL, 1, "b", 1);
        Division next = new Division(2, 6, TWO);
        assertThat(places().join(MAIL, next, 3).joined()).isEqualTo(3);
        assertThat(places().join(MAIL, new Division(2, 9, TWO), 5).division()).isEqualTo(next);
        assertThat(places().give(new Request(MAIL, 2, "b", 0, 1, 0)))
                .as("it has not settled")
                .isEmpty();
        assertThat(places().receive(MAIL, 1, "b", 5)).isZero();
        assertThat(places().receive(MAIL, 2, "b", 1)).isEqualTo(1);
        places().settle(MAIL, 1, 9);
        assertThat(has()).isEqualTo(4);
        places().settle(MAIL, 2, 5);
        places().settle(MAIL, 2, 5);
        assertThat(has()).isEqualTo(6);
        assertThat(places().give(asks(1, 0, 0))).as("of the older division").isEmpty();
    }

    @Test
    void a_shard_that_joins_keeps_what_it_has_given() {
        open(4);
        start(3);
        assertThat(claimedIds(mail(join()))).hasSize(3);
        assertThat(places().join(MAIL, new Division(2, 5, TWO), 2).joined()).isEqualTo(3);
    }

    @Test
    void a_limit_that_was_never_divided_begins_with_what_it_allowed() {
        store().queues().declare(List.of(Queue.named("mail").concurrency(3)));
        assertThat(places().join(MAIL, new Division(1, 3, TWO), 2).joined()).isEqualTo(2);
        Limit other = new Limit(Kind.QUEUE, "other");
        assertThat(places().join(other, new Division(1, 3, TWO), 2).joined())
                .as("of a queue that is not known here")
                .isZero();
    }

    @Test
    void an_operator_who_resets_all_changes_does_not_change_the_share() {
        open(2);
        store().queues().apply(new QueueRules.Order.Limit(Queue.named("mail").perKey(3)));
        store().queues().apply(new QueueRules.Order.Reset("mail"));
        Queue limits = store().queues().find("mail").orElseThrow().limits();
        assertThat(limits.perKey()).isEmpty();
        assertThat(limits.concurrency()).hasValue(2);
    }

    @Test
    void nothing_is_left_of_a_division_that_is_dissolved() {
        open(2);
        places().dissolve(MAIL);
        assertThat(places().shares()).isEmpty();
        assertThat(store().queues().find("mail").orElseThrow().changed().settings())
                .isEmpty();
    }
}
