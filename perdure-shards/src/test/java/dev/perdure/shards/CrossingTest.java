package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What crosses between three shards, one step at a time. */
@Timeout(60)
final class CrossingTest {
    private static final int A = 0;
    private static final int B = 1;
    private static final int C = 2;
    private static final Channel NEWS = Channel.message("news");

    private final WorkerId worker = new WorkerId(UUID.randomUUID());
    private final List<BreakableStore> stores = new ArrayList<>();
    private final List<Shard> all = new ArrayList<>();
    private Shards shards;
    private Crossing crossing;

    @BeforeEach
    void open() {
        for (String name : List.of("a", "b", "c")) {
            BreakableStore store = new BreakableStore(new MemoryStore());
            stores.add(store);
            all.add(shard(name, store.store()));
        }
        ShardMap map = Memberships.agreed(all, ShardMap.first(List.of("a", "b", "c")));
        shards = new Shards(all, map, Duration.ofSeconds(10));
        crossing = new Crossing(shards);
        shards.tell(
                store -> store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4)));
    }

    private RunId id(int shard, String name) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> RunId.of(name + i))
                .filter(id -> shards.of(id) == shard)
                .findFirst()
                .orElseThrow();
    }

    /** A run that the worker holds. */
    private RunRef begin(NewRun run) {
        Outcome outcome = shards.having(run.id())
                .ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Start(run, worker)))
                .getFirst();
        return ((Outcome.Started) outcome).run();
    }

    private RunRef begin(int shard, String name) {
        return begin(MembershipTest.run(id(shard, name).value()));
    }

    private void advance(RunRef sender, Move move, Effect... effects) {
        advance(sender, List.of(), move, effects);
    }

    private void advance(RunRef sender, List<Entry> entries, Move move, Effect... effects) {
        Change.Advance advance = new Change.Advance(sender, 1, entries, List.of(effects), move);
        shards.having(sender).ledger().apply(new Lane(worker, 0), List.of(crossing.of(advance)));
    }

    private static Effect start(RunId child, RunRef parent) {
        return new Effect.Start(MembershipTest.run(child.value()).withParent(new Parent(parent, 1, true)));
    }

    private static Effect mail(RunId to, String text) {
        return new Effect.Deliver(
                to, Mail.value(NEWS, UUID.randomUUID(), new Payload(text.getBytes(StandardCharsets.UTF_8))));
    }

    private int forward(int from, int to) {
        return new Forwarder(shards, from, to).forward();
    }

    private List<String> mailOf(RunId run) {
        return shards.having(run).runs().find(run).stream()
                .flatMap(found -> shards.having(run).mailboxes().unread(found.ref(), 0, Integer.MAX_VALUE).stream())
                .map(arrived -> new String(arrived.mail().payload().bytes(), StandardCharsets.UTF_8))
                .toList();
    }

    private boolean isEmpty(int from) {
        List<Integer> all = IntStream.range(0, Partitions.COUNT).boxed().toList();
        return shards.exchange(from).outgoing(all, 0, 1).isEmpty();
    }

    @Test
    void mail_that_overtakes_the_start_of_its_run_waits_for_it_and_keeps_its_order() {
        RunId child = id(B, "child");
        RunId other = begin(B, "other").id();
        advance(begin(A, "parent"), new Move.Stay(), start(child, begin(A, "starter")));
        advance(begin(C, "sender"), new Move.Stay(), mail(child, "1"), mail(other, "x"), mail(child, "2"));
        assertThat(forward(C, B)).isEqualTo(1);
        assertThat(mailOf(other)).containsExactly("x");
        assertThat(forward(A, B)).isEqualTo(1);
        assertThat(forward(C, B)).isEqualTo(2);
        assertThat(mailOf(child)).containsExactly("1", "2");
        assertThat(isEmpty(A) && isEmpty(C)).isTrue();
    }

    /** The start was sent when the partition of the child was on another shard. */
    @Test
    void mail_waits_for_a_start_that_its_own_shard_keeps() {
        RunId child = id(B, "child");
        RunRef starter = begin(B, "starter");
        ShardMap before =
                Memberships.agreed(all, ShardMap.first(List.of("a", "b", "c"))).with(Partitions.of(child), "a");
        crossing = new Crossing(new Shards(all, before, Duration.ofSeconds(10)));
        advance(starter, new Move.Stay(), start(child, starter));
        crossing = new Crossing(shards);
        advance(begin(C, "sender"), new Move.Stay(), mail(child, "1"));
        assertThat(forward(C, B)).isZero();
        assertThat(forward(B, B)).isEqualTo(1);
        assertThat(forward(C, B)).isEqualTo(1);
        assertThat(mailOf(child)).containsExactly("1");
    }

    @Test
    void what_was_sent_before_the_start_of_its_run_does_not_hold_it_up() {
        RunId child = id(B, "child");
        advance(begin(A, "sender"), new Move.Stay(), mail(child, "1"), new Effect.Cancel(child, "enough"));
        advance(begin(A, "parent"), new Move.Stay(), start(child, begin(A, "starter")));
        while (!isEmpty(A)) {
            assertThat(forward(A, B)).isPositive();
        }
        assertThat(shards.having(child).runs().find(child)).isPresent();
    }

    @Test
    void mail_for_a_run_that_nobody_starts_is_dropped() {
        advance(begin(C, "sender"), new Move.Stay(), mail(id(B, "nobody"), "1"));
        assertThat(forward(C, B)).isEqualTo(1);
        assertThat(isEmpty(C)).isTrue();
    }

    @Test
    void mail_for_a_run_that_a_silent_shard_may_start_waits_and_nothing_else_does() {
        RunId unknown = id(B, "unknown");
        RunId other = begin(B, "other").id();
        advance(begin(C, "sender"), new Move.Stay(), mail(unknown, "1"), mail(other, "x"));
        stores.get(A).down(true);
        assertThat(forward(C, B)).isEqualTo(1);
        assertThat(mailOf(other)).containsExactly("x");
        assertThat(isEmpty(C)).isFalse();
        stores.get(A).down(false);
        assertThat(forward(C, B)).isEqualTo(1);
        assertThat(isEmpty(C)).isTrue();
    }

    @Test
    void a_shard_that_hangs_delays_nothing_for_others() {
        RunId onB = begin(B, "receiver").id();
        RunId onC = begin(C, "receiver").id();
        advance(begin(A, "sender"), new Move.Stay(), mail(onB, "to b"), mail(onC, "to c"));
        stores.get(B).hang();
        Forwarding forwarding = new Forwarding(shards, false);
        forwarding.start();
        try {
            while (mailOf(onC).isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(isEmpty(A)).isFalse();
            stores.get(B).answer();
            while (!isEmpty(A)) {
                Thread.onSpinWait();
            }
        } finally {
            forwarding.close();
        }
        assertThat(mailOf(onB)).containsExactly("to b");
    }

    @Test
    void a_kill_finds_children_that_are_on_their_way_and_those_below_cancelled_ones() {
        RunRef parent = begin(A, "parent");
        RunId child = id(B, "child");
        RunId below = id(C, "below");
        ShardedRuns runs = new ShardedRuns(shards, new Forwarding(shards, true));
        advance(parent, new Move.Stay(), start(child, parent));
        assertThat(runs.liveChildren(List.of(parent))).extracting(RunRef::id).containsExactly(child);

        RunRef held = begin(MembershipTest.run(id(B, "held").value()).withParent(new Parent(parent, 2, true, 0)));
        advance(held, new Move.End(RunState.CANCELLED, Payload.EMPTY, "enough"), start(below, held));
        assertThat(runs.liveChildren(List.of(parent))).extracting(RunRef::id).containsExactlyInAnyOrder(child, below);
    }

    @Test
    void a_run_that_starts_another_on_a_shard_that_its_process_does_not_have_waits_and_is_not_lost() {
        RunRef starter = begin(A, "starter");
        Change starts =
                new Change.Advance(starter, 1, List.of(), List.of(start(id(C, "child"), starter)), new Move.Stay());
        Change away = new Change.Advance(begin(C, "away"), 1, List.of(), List.of(), new Move.Stay());
        Shards two = new Shards(all.subList(0, 2), ShardMap.first(List.of("a", "b", "c")), Duration.ofSeconds(10));
        ShardedLedger ledger = new ShardedLedger(two, new Forwarding(two, true));
        assertThat(ledger.apply(new Lane(worker, 0), List.of(starts, away)))
                .containsExactly(new Outcome.Moving(), new Outcome.Fenced());
    }

    @Test
    void a_process_that_gets_a_newer_map_says_so_once() {
        ShardMap older = new ShardMap(0, ShardMap.first(List.of("a", "b", "c")).owners());
        Shards behind = new Shards(all, older, Duration.ofSeconds(10));
        AtomicInteger said = new AtomicInteger();
        behind.onNewMap(said::incrementAndGet);
        assertThat(behind.follow(A)).isTrue();
        assertThat(said).hasValue(1);
        assertThat(behind.follow(B)).isFalse();
        assertThat(said).hasValue(1);
    }

    private static Entry begun(int position, RunId child) {
        Payload written = new Payload((child + "\nfingerprint").getBytes(StandardCharsets.UTF_8));
        return new Entry(position, 1, Entry.Kind.CHILD, "order", Entry.Status.BEGUN, written);
    }

    private static Entry answered(int position) {
        return new Entry(position, Entry.ANSWER, Entry.Kind.CHILD, "order", Entry.Status.VALUE, Payload.EMPTY);
    }

    @Test
    void a_retry_is_refused_if_the_outcome_of_a_child_elsewhere_would_not_come_again() {
        Retries retries = new Retries(shards);
        RunRef parent = begin(A, "parent");
        RunId first = id(B, "first");
        RunId second = id(C, "second");
        advance(parent, List.of(begun(1, first)), new Move.Stay(), start(first, parent));
        assertThat(retries.refusal(parent.id())).as("the child is on its way").contains("called the run '" + first);
        forward(A, B);
        assertThat(retries.refusal(parent.id()))
                .isEqualTo(
                        "The run '%s' called the run '%s' of another shard, whose outcome does not come again. Fork it instead."
                                .formatted(parent.id(), first));
        assertThat(retries.refusal(first))
                .isEqualTo("The run '%s', which called it, gets the outcome of '%s'. Fork one of them instead."
                        .formatted(parent.id(), first));
        advance(parent, List.of(answered(1)), new Move.Stay());
        assertThat(retries.refusal(parent.id())).isNull();

        begin(MembershipTest.run(second.value()));
        advance(parent, List.of(begun(2, second)), new Move.Stay());
        assertThat(retries.refusal(parent.id()))
                .as("it does not wait for that run")
                .isNull();
        advance(parent, List.of(begun(3, id(C, "removed"))), new Move.Stay());
        assertThat(retries.refusal(parent.id())).contains("called the run '" + id(C, "removed"));
    }
}
