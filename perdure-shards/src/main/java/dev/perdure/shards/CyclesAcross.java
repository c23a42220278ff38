package dev.perdure.shards;

import dev.perdure.error.StoreException;
import dev.perdure.shards.content.WaitGraph;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.change.CallCycle;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.CallWaits.AwaitedRun;
import dev.perdure.spi.shard.CallWaits.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Finds calls of virtual objects that wait for each other in a cycle over several shards, and refuses the youngest.
 *
 * <p>How it works. A sweep of a shard says if calls wait there. Then this begins at the runs that hold their objects, and asks
 * all shards level by level whom these wait for, beyond those that the shard finds by itself. A process makes one search at a
 * time, for all shards together, and rests after it for the longer, the longer it took. The reads are of different
 * times, so what looks like a cycle may never have been one. So the waits of a cycle are read once more, after all of them
 * were read: a wait begins once and ends once, so one that is there both times has stood all the time between, and all
 * of them stood at the moment between the two reads. Such a cycle never ends by itself. A shard from which a partition has
 * moved meanwhile shows waits of the past, so afterwards the maps of the shards must be the same as before.
 *
 * <p>Whatever process finds a cycle, at whichever of its calls it begins, chooses the same call. The shard refuses it only
 * while it waits as it was seen, so once at most. A process that dies before that leaves everything as it was, and the
 * next sweep of any process begins again. A shard that does not answer ends the search, and it too is made again.
 */
final class CyclesAcross implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.shards");
    /** How long one question to all shards may take. */
    static final Duration PATIENCE = Duration.ofSeconds(2);
    /** How long a search rests after one that a shard has not answered: each leaves requests behind that wait for it. */
    private static final Duration REST = Duration.ofSeconds(10);
    /** A search rests so many times as long as it took, and not shorter or longer than this. */
    private static final int RESTS = 10;

    private static final Duration SHORTEST_REST = Duration.ofSeconds(2);
    private static final Duration LONGEST_REST = Duration.ofMinutes(1);
    /** With how many runs of a shard that hold objects one search begins. The next one begins behind them. */
    private static final int HOLDERS = 200;
    /** A search ends when it has read so many runs: what is beyond waits for one that begins elsewhere. */
    private static final int MOST_RUNS = 10_000;

    private final Shards shards;
    private final Ledger ledger;
    private final Duration patience;
    private final List<Hints.Subscription> subscriptions = new ArrayList<>();
    /** The shards on which calls wait, by the sweeps since the last search began. */
    private final Set<Integer> heard = ConcurrentHashMap.newKeySet();
    /** The holder with which the last search of a shard has ended, if there may be more behind it. */
    private final Map<Integer, Long> after = new HashMap<>();

    private final AtomicBoolean underWay = new AtomicBoolean();
    private volatile long notBefore = System.nanoTime();
    /** Whether the log says that a shard does not answer. */
    private boolean silent;

    private volatile boolean closed;

    CyclesAcross(Shards shards, Ledger ledger, Duration patience) {
        this.shards = shards;
        this.ledger = ledger;
        this.patience = patience;
    }

    /** Begins to listen to sweeps if there are several shards, or have been. */
    void start() {
        if (shards.haveBeenSeveral()) {
            shards.indexes()
                    .forEach(shard ->
                            subscriptions.add(shards.store(shard).hints().subscribe(hint -> hear(shard, hint))));
        }
    }

    private void hear(int shard, Hints.Hint hint) {
        if (hint instanceof Hints.CallsWait) {
            heard.add(shard);
            if (System.nanoTime() - notBefore >= 0 && underWay.compareAndSet(false, true)) {
                Thread.ofVirtual().name("perdure-call-cycles").start(this::lookAndReport);
            }
        }
    }

    private void lookAndReport() {
        long began = System.nanoTime();
        Duration rest = REST;
        try {
            List<Integer> some = List.copyOf(heard);
            some.forEach(heard::remove);
            look(some);
            silent = false;
            rest = rest(System.nanoTime() - began);
        } catch (StoreException trouble) {
            if (!silent && !closed && trouble.kind() != StoreException.Kind.MOVING) {
                silent = true;
                LOG.warn(
                        "Whether calls of virtual objects wait for each other in a cycle over several shards is not known. It is looked for again. {}",
                        trouble.getMessage());
            }
        } catch (RuntimeException | Error thrown) {
            if (!closed) {
                LOG.error("The search for calls that wait for each other failed. It is made again.", thrown);
            }
        } finally {
            notBefore = System.nanoTime() + rest.toNanos();
            underWay.set(false);
        }
    }

    /** How long the next search has to wait after one that took so long. */
    static Duration rest(long nanos) {
        Duration rest = Duration.ofNanos(nanos).multipliedBy(RESTS);
        Duration atLeast = rest.compareTo(SHORTEST_REST) < 0 ? SHORTEST_REST : rest;
        return atLeast.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : atLeast;
    }

    /** Looks once from the calls of every shard, in the thread of the caller. */
    void look() {
        if (shards.haveBeenSeveral()) {
            look(shards.indexes());
        }
    }

    /** Looks once from the calls of these shards: one search, so that a cycle over several of them is read only once. */
    private void look(List<Integer> some) {
        Map<Integer, Long> begins = Map.copyOf(after);
        List<List<Long>> holders = shards.ask(
                some,
                patience,
                shard -> shards.exchange(shard).waits().holders(begins.getOrDefault(shard, 0L), HOLDERS));
        for (int i = 0; i < some.size(); i++) {
            List<Long> ofShard = holders.get(i);
            after.put(some.get(i), ofShard.size() == HOLDERS ? ofShard.getLast() : 0L);
        }
        List<Long> all = holders.stream().flatMap(List::stream).toList();
        if (!all.isEmpty()) {
            int version = shards.version();
            List<WaitGraph.Cycle> cycles = graph(all).cycles();
            if (!cycles.isEmpty()) {
                refuse(cycles, version);
            }
        }
    }

    private WaitGraph graph(List<Long> holders) {
        WaitGraph graph = new WaitGraph();
        Set<Long> seen = new HashSet<>(holders);
        Collection<Long> level = holders;
        while (!level.isEmpty() && seen.size() < MOST_RUNS) {
            List<Long> next = new ArrayList<>();
            for (Wait wait : waits(level)) {
                graph.add(wait);
                if (seen.add(wait.on().run().key())) {
                    next.add(wait.on().run().key());
                }
            }
            level = next;
        }
        return graph;
    }

    /** The waits of these runs. A partition that has moved leaves rows for a while, and they do not count. */
    private List<Wait> waits(Collection<Long> waiting) {
        return shards
                .ask(
                        shards.indexes(),
                        patience,
                        shard -> shards.exchange(shard).waits().of(waiting).stream()
                                .filter(wait ->
                                        shards.has(shard, wait.on().run().id()))
                                .toList())
                .stream()
                .flatMap(List::stream)
                .toList();
    }

    /** Reads the waits of these cycles once more, all at once, and refuses the youngest call of each that still stands. */
    private void refuse(List<WaitGraph.Cycle> cycles, int version) {
        List<Long> keys =
                cycles.stream().flatMap(cycle -> cycle.keys().stream()).toList();
        List<Wait> again = waits(keys);
        List<Change> refusals = cycles.stream()
                .flatMap(cycle -> cycle.in(again).flatMap(WaitGraph.Cycle::fromYoungest).stream())
                .map(CyclesAcross::refusal)
                .toList();
        if (!refusals.isEmpty() && isUpToDate(version)) {
            ledger.apply(Lane.client(0), refusals);
        }
    }

    private static Change refusal(WaitGraph.Cycle cycle) {
        AwaitedRun youngest = cycle.runs().getFirst();
        String message =
                CallCycle.message(cycle.runs().stream().map(AwaitedRun::member).toList());
        return new Change.Command(youngest.run().id(), Change.CommandKind.REFUSE, message, null, youngest.seen());
    }

    /** Whether no shard has a newer map than the one by which the waits were read. */
    private boolean isUpToDate(int version) {
        shards.ask(shards.indexes(), patience, shards::follow);
        return shards.version() == version;
    }

    @Override
    public void close() {
        closed = true;
        subscriptions.forEach(Hints.Subscription::close);
    }
}
