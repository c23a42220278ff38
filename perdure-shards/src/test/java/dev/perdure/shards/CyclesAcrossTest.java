package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that wait for each other over three shards, one step at a time. */
@Timeout(60)
final class CyclesAcrossTest {
    private static final int A = 0;
    private static final int B = 1;
    private static final int C = 2;

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final WorkerId worker = new WorkerId(UUID.randomUUID());
    private final List<BreakableStore> stores = new ArrayList<>();
    private Shards shards;
    private CyclesAcross cycles;

    @BeforeEach
    void open() {
        List<Shard> all = new ArrayList<>();
        for (String name : List.of("a", "b", "c")) {
            BreakableStore store = new BreakableStore(new MemoryStore(MemoryShards.clockwork(now::get)));
            stores.add(store);
            all.add(shard(name, store.store()));
        }
        ShardMap map = Memberships.agreed(all, ShardMap.first(List.of("a", "b", "c")));
        shards = new Shards(all, map, Duration.ofSeconds(10));
        cycles = search(shards, Duration.ofSeconds(10));
        shards.tell(
                store -> store.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4)));
    }

    private static CyclesAcross search(Shards shards, Duration patience) {
        return new CyclesAcross(
                shards, new ShardedLedger(shards, new Forwarding(shards, false, shard -> {})), patience);
    }

    private static ObjectKey object(int shard) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> new ObjectKey("cart", "user-" + i))
                .filter(key -> Partitions.of(key) % 3 == shard)
                .findFirst()
                .orElseThrow();
    }

    /** A call of the object that each shard has, from a run of any shard or from none. */
    private NewRun call(String name, int shard, RunRef... caller) {
        RunId id = RunId.of(shards.prefix(object(shard)) + name);
        NewRun run = MembershipTest.run(id.value()).on(new ObjectCall(object(shard), Hold.EXCLUSIVE));
        return caller.length == 0 ? run : run.withParent(parent(caller[0], shard));
    }

    private String idOn(int shard) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "run-" + i)
                .filter(id -> shards.of(RunId.of(id)) == shard)
                .findFirst()
                .orElseThrow();
    }

    private Parent parent(RunRef caller, int shard) {
        boolean here = shards.of(caller) == shard;
        return new Parent(caller, 1, true, here ? Parent.HERE : 0);
    }

    private RunRef begin(NewRun run) {
        now.updateAndGet(time -> time.plusSeconds(2));
        Outcome outcome = shards.having(run.id())
                .ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Start(run, worker)))
                .getFirst();
        return ((Outcome.Started) outcome).run();
    }

    private void end(RunRef run) {
        shards.having(run)
                .ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(new Change.Advance(
                                run, 1, List.of(), new Move.End(RunState.COMPLETED, Payload.EMPTY, ""))));
    }

    private void look() {
        now.updateAndGet(time -> time.plusSeconds(2));
        cycles.look();
    }

    private List<RunState> states(RunRef... runs) {
        return Stream.of(runs).map(run -> info(run.id()).state()).toList();
    }

    /** The run on whatever shard has it: a map may say otherwise. */
    private RunInfo info(RunId run) {
        return shards.all().stream()
                .flatMap(shard -> shard.store().runs().find(run).stream())
                .findFirst()
                .orElseThrow()
                .info();
    }

    @Test
    void a_cycle_over_three_shards_is_broken_once_at_its_youngest_call_with_the_chain() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        RunRef three = begin(call("three", C));
        RunRef toTwo = begin(call("to-two", B, one));
        RunRef toThree = begin(call("to-three", C, two));
        look();
        assertThat(states(toTwo, toThree)).containsOnly(RunState.PENDING);
        RunRef toOne = begin(call("to-one", A, three));
        RunRef behind = begin(call("behind", B, begin(MembershipTest.run("caller"))));
        look();
        look();
        assertThat(states(toOne, toTwo, toThree, behind))
                .containsExactly(RunState.FAILED, RunState.PENDING, RunState.PENDING, RunState.PENDING);
        String ofA = "(order of '" + object(A).key() + "')";
        String ofB = "(order of '" + object(B).key() + "')";
        String ofC = "(order of '" + object(C).key() + "')";
        assertThat(info(toOne.id()).reason())
                .contains(
                        "Calls wait for each other in a cycle: '%s' %s waits for '%s' %s waits for '%s' %s waits for '%s' %s waits for '%s' %s waits for '%s' %s waits for '%s' %s. Let one of them send instead of call, or call a shared handler."
                                .formatted(
                                        toOne.id(),
                                        ofA,
                                        one.id(),
                                        ofA,
                                        toTwo.id(),
                                        ofB,
                                        two.id(),
                                        ofB,
                                        toThree.id(),
                                        ofC,
                                        three.id(),
                                        ofC,
                                        toOne.id(),
                                        ofA));
    }

    @Test
    void a_cycle_that_two_shards_close_at_once_is_broken_at_one_call_whoever_finds_it_first() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        NewRun first = call("to-two", B, one);
        NewRun second = call("to-one", A, two);
        for (NewRun run : List.of(first, second)) { // created at the same time
            shards.having(run.id()).ledger().apply(new Lane(worker, 0), List.of(new Change.Start(run, worker)));
        }
        now.updateAndGet(time -> time.plusSeconds(2));
        List<CyclesAcross> processes = Stream.generate(() -> search(shards, Duration.ofSeconds(10)))
                .limit(4)
                .toList();
        processes.parallelStream().forEach(CyclesAcross::look);
        assertThat(List.of(info(first.id()).state(), info(second.id()).state()))
                .containsExactlyInAnyOrder(RunState.FAILED, RunState.PENDING);
    }

    @Test
    void a_wait_through_a_run_of_a_third_shard_that_calls_no_object_is_part_of_a_cycle() {
        RunRef holder = begin(call("holder", A));
        RunRef between = begin(MembershipTest.run(idOn(C)).withParent(parent(holder, C)));
        RunRef back = begin(call("back", A, between));
        look();
        assertThat(states(back, holder, between)).containsExactly(RunState.FAILED, RunState.RUNNING, RunState.RUNNING);
    }

    @Test
    void what_is_read_at_different_times_makes_no_cycle() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        RunRef toTwo = begin(call("to-two", B, one));
        RunRef toOne = begin(call("to-one", A, two));
        now.updateAndGet(time -> time.plusSeconds(2));
        stores.get(B).once("CallWaits.of", 3, () -> end(two)); // its waits are read by then
        cycles.look();
        assertThat(states(toTwo, toOne)).containsExactly(RunState.READY, RunState.PENDING);
        assertThat(stores.get(B).requests("CallWaits.of")).isGreaterThanOrEqualTo(3);
    }

    @Test
    void a_call_that_has_got_its_turn_after_the_last_read_is_not_refused() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        begin(call("to-two", B, one));
        RunRef toOne = begin(call("to-one", A, two));
        now.updateAndGet(time -> time.plusSeconds(2));
        stores.get(A).once("Ledger.apply", 1, () -> end(one));
        cycles.look();
        assertThat(states(toOne)).containsExactly(RunState.READY);
    }

    @Test
    void calls_that_are_paused_are_part_of_a_cycle_and_are_not_refused() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        RunRef toTwo = begin(call("to-two", B, one));
        RunRef toOne = begin(call("to-one", A, two));
        shards.having(toOne)
                .ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(toOne.id(), Change.CommandKind.PAUSE, "a look at it")));
        look();
        assertThat(states(toTwo, toOne)).containsExactly(RunState.FAILED, RunState.PAUSED);
    }

    @Test
    void a_call_of_an_earlier_life_of_its_caller_is_part_of_no_cycle() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        NewRun toTwo = call("to-two", B).withParent(new Parent(one, 1, true, 7));
        begin(toTwo);
        RunRef toOne = begin(call("to-one", A, two));
        look();
        assertThat(states(toOne)).containsExactly(RunState.PENDING);
    }

    @Test
    void rows_that_a_moved_partition_has_left_behind_make_no_cycle() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        RunRef toTwo = begin(call("to-two", B, one));
        RunRef toOne = begin(call("to-one", A, two));
        ShardMap moved = ShardMap.first(List.of("a", "b", "c")).with(Partitions.of(two.id()), "c");
        Membership newer = new Membership("b", moved);
        stores.get(B).answering("Exchange.membership", Optional.of(newer));
        look();
        assertThat(states(toTwo, toOne))
                .as("the process has read by the old map")
                .containsOnly(RunState.PENDING);
        look();
        assertThat(states(toTwo, toOne)).as("and now by the new one").containsOnly(RunState.PENDING);
    }

    @Test
    void a_shard_that_does_not_answer_is_named_and_the_search_is_made_again() {
        RunRef one = begin(call("one", A));
        RunRef two = begin(call("two", B));
        begin(call("to-two", B, one));
        RunRef toOne = begin(call("to-one", A, two));
        now.updateAndGet(time -> time.plusSeconds(2));
        stores.get(C).hang();
        CyclesAcross impatient = search(shards, Duration.ofMillis(100));
        assertThatThrownBy(impatient::look)
                .isInstanceOf(StoreException.class)
                .hasMessage("Shard 'c' did not answer within PT0.1S.");
        assertThat(states(toOne)).containsExactly(RunState.PENDING);
        stores.get(C).answer();
        look();
        assertThat(states(toOne)).containsExactly(RunState.FAILED);
    }
}
