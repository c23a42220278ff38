package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.shards.content.SentChange;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
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
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Exchange.Outgoing;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import dev.perdure.spi.statistics.Statistics.Seen;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
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
        return kept(from) == 0;
    }

    private int kept(int from) {
        List<Integer> all = IntStream.range(0, Partitions.COUNT).boxed().toList();
        return shards.exchange(from).outgoing(all, 0, 100).size();
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

    /** As a newer version may send it: one of its bytes has another meaning there. */
    private static Effect.Send newer(RunId to) {
        byte[] bytes = SentChange.cancel(to, "why").bytes();
        bytes[0]++;
        return new Effect.Send(UUID.randomUUID(), Partitions.of(to), new Payload(bytes), Payload.EMPTY);
    }

    @Test
    void what_this_version_cannot_read_stays_with_what_follows_for_its_partition_and_holds_up_nothing_else() {
        RunRef to = begin(B, "to");
        RunId other = begin(B, "other").id();
        RunId child = id(B, "child");
        RunRef sender = begin(A, "sender");
        advance(sender, new Move.Stay(), mail(to.id(), "1"), newer(to.id()), mail(to.id(), "2"), mail(other, "x"));
        advance(begin(C, "starter"), new Move.Stay(), newer(child));
        advance(sender, new Move.Stay(), mail(child, "early"));

        assertThat(forward(A, B)).isEqualTo(2);
        assertThat(mailOf(to.id())).containsExactly("1");
        assertThat(mailOf(other)).containsExactly("x");
        assertThat(forward(A, B)).isZero();
        assertThat(kept(A))
                .as("the change, the mail after it, and the mail that may be for a run that it starts")
                .isEqualTo(3);
        assertThat(forward(C, B)).isZero();
        assertThat(kept(C)).isEqualTo(1);
    }

    @Test
    void what_follows_something_that_this_version_cannot_read_is_not_read_in_further_pages() {
        RunRef to = begin(B, "to");
        Effect[] sent = IntStream.range(0, 2 * Forwarder.BATCH)
                .mapToObj(i -> i == 0 ? newer(to.id()) : mail(to.id(), "mail " + i))
                .toArray(Effect[]::new);
        advance(begin(A, "sender"), new Move.Stay(), sent);
        assertThat(forward(A, B)).isZero();
        assertThat(stores.get(A).requests("Exchange.outgoing"))
                .as("the first page, and one without the partition")
                .isEqualTo(2);
    }

    @Test
    void a_kill_says_so_if_something_is_on_its_way_that_this_version_cannot_read() {
        RunRef parent = begin(A, "parent");
        advance(parent, new Move.Stay(), newer(id(B, "child")));
        ShardedRuns runs = new ShardedRuns(shards, new Forwarding(shards, true, shard -> {}));
        assertThatThrownBy(() -> runs.liveChildren(List.of(parent)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "Shard 'a' has sent something that this version cannot read. Repeat this with a process of the newer version.");
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
        Forwarding forwarding = new Forwarding(shards, false, shard -> {});
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
        ShardedRuns runs = new ShardedRuns(shards, new Forwarding(shards, true, shard -> {}));
        advance(parent, new Move.Stay(), start(child, parent));
        assertThat(runs.liveChildren(List.of(parent))).extracting(RunRef::id).containsExactly(child);

        RunRef held = begin(MembershipTest.run(id(B, "held").value()).withParent(new Parent(parent, 2, true, 0)));
        advance(held, new Move.End(RunState.CANCELLED, Payload.EMPTY, "enough"), start(below, held));
        assertThat(runs.liveChildren(List.of(parent))).extracting(RunRef::id).containsExactlyInAnyOrder(child, below);
    }

    @Test
    void a_tree_is_listed_and_counted_over_all_shards_and_a_silent_one_is_named() {
        ShardedRuns runs = new ShardedRuns(shards, new Forwarding(shards, true, shard -> {}));
        RunRef root = begin(A, "root");
        RunRef child = begin(MembershipTest.run(id(B, "child").value()).withParent(new Parent(root, 1, true, 0)));
        RunRef below = begin(MembershipTest.run(id(C, "below").value()).withParent(new Parent(child, 1, true, 0)));
        RunRef back = begin(MembershipTest.run(id(A, "back").value()).withParent(new Parent(below, 1, true, 0)));
        advance(back, new Move.Stay(), start(RunId.of(back.id() + "/1"), back));
        begin(C, "other");

        RunFilter tree = RunFilter.all().root(root.id());
        List<RunId> all = List.of(root.id(), child.id(), below.id(), back.id(), RunId.of(back.id() + "/1"));
        assertThat(runs.list(tree)).extracting(RunInfo::id).containsExactlyInAnyOrderElementsOf(all);
        assertThat(runs.count(tree).values()).extracting(RunCount::runs).containsExactlyInAnyOrder(4, 1);
        assertThat(new ShardedStatistics(shards).newest(tree, Duration.ofHours(1), 3))
                .hasSize(3);
        assertThat(runs.list(RunFilter.all().parent(child.id())))
                .extracting(RunInfo::id)
                .containsExactly(below.id());
        List<RunId> paged = new ArrayList<>();
        List<RunInfo> page = runs.list(tree.limit(2));
        while (!page.isEmpty()) {
            page.forEach(run -> paged.add(run.id()));
            page = runs.list(tree.limit(2).after(page.getLast()));
        }
        assertThat(paged).containsExactlyInAnyOrderElementsOf(all);

        stores.get(B).down(true);
        assertThatThrownBy(() -> runs.list(tree))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("'b'");
    }

    @Test
    void a_list_of_what_a_run_has_started_names_the_shard_of_the_run_if_it_hangs() {
        RunRef parent = begin(A, "parent");
        Shards impatient = new Shards(all, ShardMap.first(List.of("a", "b", "c")), Duration.ofMillis(100));
        ShardedRuns runs = new ShardedRuns(impatient, new Forwarding(impatient, true, shard -> {}));
        stores.get(A).hang();
        try {
            for (ThrowingCallable list : List.<ThrowingCallable>of(
                    () -> runs.list(RunFilter.all().parent(parent.id())),
                    () -> runs.children(parent),
                    () -> runs.children(parent, BelowPlace.FIRST, 2))) {
                assertThatThrownBy(list)
                        .isInstanceOf(StoreException.class)
                        .hasMessage("Shard 'a' did not answer within PT0.1S.");
            }
        } finally {
            stores.get(A).answer();
        }
    }

    @Test
    void statistics_have_no_runs_that_have_moved_and_whose_rows_are_still_there() {
        RunRef moved = begin(A, "moved");
        RunRef other = begin(A, "other");
        ShardMap map = ShardMap.first(List.of("a", "b", "c")).with(Partitions.of(moved.id()), "b");
        assertThat(new ShardedStatistics(new Shards(all, map, Duration.ofSeconds(10)))
                        .newest(RunFilter.all(), Duration.ofHours(1), 10))
                .extracting(Seen::run)
                .containsExactly(other);
    }

    /** Both runs have come to the only shard that is left, and the link between them is as it was. */
    @Test
    void the_last_of_several_shards_delivers_what_it_kept_for_runs_that_it_has_got() {
        ShardMap map = new ShardMap(ShardMap.FIRST + 1, Collections.nCopies(Partitions.COUNT, "x"));
        MemoryStore last = new MemoryStore();
        last.exchange().orElseThrow().join(new Membership("x", map));
        shards = new Shards(List.of(shard("x", last)), map, Duration.ofSeconds(10));
        last.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        RunRef parent = begin(A, "parent");
        RunRef child = begin(MembershipTest.run(id(A, "child").value()).withParent(new Parent(parent, 1, true, 0)));
        try (ShardedStore store = ShardedStore.settling(shard("x", last))) {
            assertThat(store.runs().children(parent))
                    .extracting(row -> row.run().id())
                    .containsExactly(child.id());
            assertThat(store.runs().children(parent, BelowPlace.FIRST, 2).runs())
                    .hasSize(1);
            assertThat(store.runs().list(RunFilter.all().root(parent.id()))).hasSize(2);
            assertThat(store.runs().liveChildren(List.of(parent))).containsExactly(child);
        }
        advance(child, new Move.End(RunState.COMPLETED, Payload.EMPTY, ""));
        assertThat(isEmpty(A)).isFalse();
        try (ShardedStore store = ShardedStore.over(shard("x", last))) {
            while (!isEmpty(A)) {
                Thread.onSpinWait();
            }
            assertThat(store.mailboxes().unread(parent, 0, Integer.MAX_VALUE)).hasSize(1);
        }
    }

    @Test
    void children_on_all_shards_are_read_in_pages_oldest_first() {
        ShardedRuns runs = new ShardedRuns(shards, new Forwarding(shards, true, shard -> {}));
        RunRef parent = begin(A, "parent");
        List<RunId> started = new ArrayList<>();
        for (int i = 1; i <= 7; i++) {
            RunId child = id(i % 3, "child-" + i + "-");
            started.add(child);
            begin(MembershipTest.run(child.value())
                    .withParent(i % 3 == A ? new Parent(parent, i, true) : new Parent(parent, i, true, 0)));
        }
        List<RunId> oldestFirst =
                runs.children(parent).stream().map(row -> row.run().id()).toList();
        assertThat(oldestFirst).containsExactlyInAnyOrderElementsOf(started);
        List<RunId> paged = new ArrayList<>();
        Optional<BelowPlace> next = Optional.of(BelowPlace.FIRST);
        while (next.isPresent()) {
            BelowPage page = runs.children(parent, next.get(), 2);
            assertThat(page.runs()).hasSizeLessThanOrEqualTo(2);
            page.runs().forEach(child -> paged.add(child.run().id()));
            next = page.next();
        }
        assertThat(paged).isEqualTo(oldestFirst);
    }

    @Test
    void a_run_that_starts_another_on_a_shard_that_its_process_does_not_have_waits_and_is_not_lost() {
        RunRef starter = begin(A, "starter");
        Change starts =
                new Change.Advance(starter, 1, List.of(), List.of(start(id(C, "child"), starter)), new Move.Stay());
        Change away = new Change.Advance(begin(C, "away"), 1, List.of(), List.of(), new Move.Stay());
        Shards two = new Shards(all.subList(0, 2), ShardMap.first(List.of("a", "b", "c")), Duration.ofSeconds(10));
        ShardedLedger ledger = new ShardedLedger(two, new Forwarding(two, true, shard -> {}));
        assertThat(ledger.apply(new Lane(worker, 0), List.of(starts, away)))
                .containsExactly(new Outcome.Moving(), new Outcome.Fenced());
    }

    @Test
    void a_kill_says_so_if_children_may_be_on_a_shard_that_its_process_does_not_have() {
        RunRef parent = begin(A, "parent");
        Shards two = new Shards(all.subList(0, 2), ShardMap.first(List.of("a", "b", "c")), Duration.ofSeconds(10));
        ShardedRuns runs = new ShardedRuns(two, new Forwarding(two, true, shard -> {}));
        assertThatThrownBy(() -> runs.liveChildren(List.of(parent)))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "The map of version 1 has the shards [a, b, c], and this process has [a, b], so it cannot kill what a run has started there. Start it again with all shards.");
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

    private ShardedLedger ledger() {
        return new ShardedLedger(shards, new Forwarding(shards, false, shard -> {}));
    }

    /** A parent that has ended, of whose child on another shard it has no result. */
    private RunRef failedParentOf(RunId child) {
        RunRef parent = begin(A, "parent");
        advance(parent, List.of(begun(1, child)), new Move.Stay(), start(child, parent));
        forward(A, shards.of(child));
        advance(parent, new Move.End(RunState.FAILED, Payload.EMPTY, "it failed"));
        return parent;
    }

    private Change.Retry retryOf(RunId run) {
        return new Change.Retry(
                run, shards.having(run).runs().find(run).orElseThrow().info().changedAt());
    }

    private void end(RunId run, String result) {
        RunRef ref = shards
                .having(run)
                .dispatch()
                .poll(new Dispatch.Poll(worker, Set.of("order"), Set.of("default"), null, 10, false))
                .claimed()
                .stream()
                .filter(claimed -> claimed.run().id().equals(run))
                .findFirst()
                .orElseThrow()
                .run();
        advance(ref, new Move.End(RunState.COMPLETED, bytes(result), ""));
    }

    private static Payload bytes(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<String> unread(RunRef run) {
        return shards.having(run).mailboxes().unread(run, 0, Integer.MAX_VALUE).stream()
                .map(arrived -> new String(arrived.mail().payload().bytes(), StandardCharsets.UTF_8)
                        + arrived.mail().text())
                .toList();
    }

    @Test
    void a_retried_run_gets_the_outcome_of_a_child_elsewhere_that_ended_meanwhile_once() {
        RunId child = id(B, "child");
        RunRef parent = failedParentOf(child);
        end(child, "42");
        forward(B, A);
        assertThat(unread(parent)).as("it had ended").isEmpty();

        Change retry = retryOf(parent.id());
        assertThat(ledger().apply(Lane.client(0), List.of(retry)).getFirst()).isInstanceOf(Outcome.Applied.class);
        List<Outgoing> asked = shards.exchange(A).outgoing(shards.partitions(shard -> true), 0, 10);
        assertThat(asked).hasSize(1);
        ledger().apply(Lane.client(0), List.of(retry));
        assertThat(shards.exchange(A).outgoing(shards.partitions(shard -> true), 0, 10))
                .as("a retry that is sent again asks for nothing more")
                .isEqualTo(asked);
        // The process that retried the run may die here: any other one goes on.
        forward(A, B);
        List<Outgoing> told = shards.exchange(B).outgoing(shards.partitions(shard -> true), 0, 10);
        forward(B, A);
        assertThat(unread(parent)).containsExactly("42");

        new Forwarder(shards, A, B).forward(asked, false, shards.version());
        forward(B, A);
        new Forwarder(shards, B, A).forward(told, false, shards.version());
        assertThat(unread(parent)).as("copies that came late").containsExactly("42");
    }

    @Test
    void a_retried_run_gets_the_outcome_of_a_child_elsewhere_that_ends_later_once() {
        RunId child = id(B, "child");
        RunRef parent = failedParentOf(child);
        ledger().apply(Lane.client(0), List.of(retryOf(parent.id())));
        List<Outgoing> asked = shards.exchange(A).outgoing(shards.partitions(shard -> true), 0, 10);
        forward(A, B);
        assertThat(isEmpty(B)).as("it has nothing to tell").isTrue();
        end(child, "42");
        new Forwarder(shards, A, B).forward(asked, false, shards.version());
        forward(B, A);
        assertThat(unread(parent)).containsExactly("42");
    }

    @Test
    void a_retried_run_is_told_that_a_child_elsewhere_was_removed_before_it_was_asked() {
        RunId child = id(B, "child");
        RunRef parent = begin(A, "parent");
        Effect ask = Crossing.retell(child, new Parent(parent, 1, true), Instant.EPOCH);
        advance(parent, new Move.Stay(), ask);
        forward(A, B);
        assertThat(isEmpty(A)).isTrue();
        assertThat(unread(parent))
                .containsExactly("The run '%s' was removed before '%s' was retried.".formatted(child, parent.id()));
    }

    /** A partition came back, or a move of it was given up: the link between the two is as if they were on two shards. */
    @Test
    void a_retried_run_gets_the_outcome_of_a_child_beside_it_that_is_linked_as_one_elsewhere() {
        RunRef parent = begin(A, "parent");
        RunRef child = begin(MembershipTest.run(id(A, "child").value()).withParent(new Parent(parent, 1, true, 0)));
        advance(parent, List.of(begun(1, child.id())), new Move.Stay());
        advance(parent, new Move.End(RunState.FAILED, Payload.EMPTY, "it failed"));
        advance(child, new Move.End(RunState.COMPLETED, bytes("42"), ""));
        forward(A, A);
        assertThat(unread(parent)).as("it had ended").isEmpty();

        ledger().apply(Lane.client(0), List.of(retryOf(parent.id())));
        forward(A, A);
        forward(A, A);
        assertThat(unread(parent)).containsExactly("42");
        assertThat(isEmpty(A)).isTrue();
    }

    @Test
    void a_retried_run_gets_an_outcome_whose_first_copy_was_dropped_and_is_not_removed_yet() {
        RunId child = id(B, "child");
        RunRef parent = failedParentOf(child);
        end(child, "42");
        stores.get(B).once("Exchange.remove", 1, () -> {
            ledger().apply(Lane.client(0), List.of(retryOf(parent.id())));
            forward(A, B);
        });
        forward(B, A);
        forward(B, A);
        assertThat(unread(parent)).containsExactly("42");
        assertThat(isEmpty(A) && isEmpty(B)).isTrue();
    }

    /** As if the partition of a run had moved to the third shard. Only the shard that it has left has the new map yet. */
    private RunRef moved(RunRef run, @Nullable Parent parent) {
        ShardMap map = ShardMap.first(List.of("a", "b", "c")).with(Partitions.of(run.id()), "c");
        int left = shards.of(run);
        stores.get(left).answering("Exchange.membership", Optional.of(new Membership(shards.name(left), map)));
        NewRun same = MembershipTest.run(run.id().value()).withParent(parent);
        Outcome outcome = shards.store(C)
                .ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Start(same, worker)))
                .getFirst();
        return ((Outcome.Started) outcome).run();
    }

    private void followsTo(int from, int left) {
        assertThatThrownBy(() -> forward(from, left))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING));
        forward(from, C);
    }

    @Test
    void a_child_is_asked_for_its_outcome_where_its_partition_is_and_not_where_its_old_row_is() {
        RunId child = id(B, "child");
        RunRef parent = failedParentOf(child);
        RunRef moved = moved(shards.store(B).runs().find(child).orElseThrow().ref(), new Parent(parent, 1, true, 0));
        Move end = new Move.End(RunState.COMPLETED, bytes("42"), "");
        shards.store(C)
                .ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Advance(moved, 1, List.of(), List.of(), end)));
        forward(C, A);
        assertThat(unread(parent)).as("it had ended").isEmpty();

        ledger().apply(Lane.client(0), List.of(retryOf(parent.id())));
        followsTo(A, B);
        forward(C, A);
        assertThat(unread(parent)).containsExactly("42");
    }

    @Test
    void what_is_for_a_run_that_has_moved_and_was_retried_does_not_end_at_its_old_row() {
        RunRef parent = begin(A, "parent");
        advance(parent, new Move.End(RunState.FAILED, Payload.EMPTY, "it failed"));
        moved(parent, null);
        RunRef child = begin(MembershipTest.run(id(B, "child").value()).withParent(new Parent(parent, 1, true, 0)));
        advance(child, new Move.End(RunState.COMPLETED, bytes("42"), ""));
        followsTo(B, A);
        assertThat(mailOf(parent.id())).containsExactly("42");
    }

    @Test
    void a_cancel_of_a_run_that_has_moved_and_was_retried_does_not_end_at_its_old_row() {
        RunRef run = begin(A, "run");
        advance(run, new Move.End(RunState.FAILED, Payload.EMPTY, "it failed"));
        moved(run, null);
        advance(begin(B, "sender"), new Move.Stay(), new Effect.Cancel(run.id(), "enough"));
        followsTo(B, A);
        assertThat(isEmpty(B)).isTrue();
    }

    @Test
    void a_token_that_was_made_after_a_move_is_found_by_a_process_with_the_old_map() {
        RunRef run = begin(A, "run");
        RunRef moved = moved(run, null);
        String hash = HexFormat.of().toHexDigits((byte) Partitions.of(run.id())) + ".hash";
        Effect token = new Effect.Awakeable(hash, 1);
        shards.store(C)
                .ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(new Change.Advance(moved, 1, List.of(), List.of(token), new Move.Stay())));
        assertThat(new ShardedMailboxes(shards, new byte[0]).awakeable(hash)).isPresent();
    }

    @Test
    void a_run_asks_only_children_elsewhere_whose_results_it_waits_for() {
        Retries retries = new Retries(shards);
        RunId first = id(B, "first");
        RunId second = id(C, "second");
        RunRef parent = begin(A, "parent");
        advance(parent, List.of(begun(1, first)), new Move.Stay(), start(first, parent));
        forward(A, B);
        begin(MembershipTest.run(second.value()));
        advance(parent, List.of(begun(2, second)), new Move.Stay());
        assertThat(retries.refusal(parent.id())).isNull();
        assertThat(retries.asking(retryOf(parent.id())).sends())
                .extracting(Effect.Send::partition)
                .containsExactly(Partitions.of(first));
        advance(parent, List.of(answered(1)), new Move.Stay());
        assertThat(retries.asking(retryOf(parent.id())).sends()).isEmpty();
    }

    /** A move may link it as one elsewhere before the retry is applied. */
    @Test
    void a_retried_run_also_asks_a_child_beside_it() {
        RunId child = id(A, "child");
        RunRef parent = begin(A, "parent");
        advance(parent, List.of(begun(1, child)), new Move.Stay(), start(child, parent));
        assertThat(new Retries(shards).asking(retryOf(parent.id())).sends())
                .extracting(Effect.Send::partition)
                .containsExactly(Partitions.of(child));
    }

    @Test
    void a_retry_is_refused_while_a_child_elsewhere_is_not_there() {
        Retries retries = new Retries(shards);
        RunId child = id(B, "child");
        RunRef parent = begin(A, "parent");
        advance(parent, List.of(begun(1, child)), new Move.Stay(), start(child, parent));
        assertThat(retries.refusal(parent.id()))
                .isEqualTo(
                        "The run '%s' called the run '%s' of another shard, which is not there: it was removed, or is still on its way there. Fork '%s' instead, or wait a moment."
                                .formatted(parent.id(), child, parent.id()));
        forward(A, B);
        assertThat(retries.refusal(parent.id())).isNull();
    }

    @Test
    void a_run_that_another_shard_called_is_retried_only_if_its_caller_does_not_take_the_outcome_any_more() {
        Retries retries = new Retries(shards);
        RunId child = id(B, "child");
        RunRef parent = failedParentOf(child);
        assertThat(retries.refusal(child))
                .isEqualTo("The run '%s', which called it, gets the outcome of '%s'. Fork one of them instead."
                        .formatted(parent.id(), child));
        RunRef gone = new RunRef(id(A, "gone"), parent.key() + (1 << 20));
        RunRef ofGone = begin(MembershipTest.run(id(B, "of-gone").value()).withParent(new Parent(gone, 1, true, 0)));
        RunRef ofEarlierLife =
                begin(MembershipTest.run(id(B, "of-earlier").value()).withParent(new Parent(parent, 2, true, 7)));
        assertThat(retries.refusal(ofGone.id())).isNull();
        assertThat(retries.refusal(ofEarlierLife.id())).isNull();
    }
}
