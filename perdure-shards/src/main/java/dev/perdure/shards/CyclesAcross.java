package dev.perdure.shards;

import dev.perdure.error.StoreException;
import dev.perdure.shards.content.WaitGraph;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.change.CallCycle;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.shard.CallWaits.AwaitedRun;
import dev.perdure.spi.shard.CallWaits.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds calls of virtual objects that wait for each other in a cycle over several shards, and refuses the youngest.
 *
 * <p>How it works. A sweep of a shard says if calls wait there. Then this begins at the runs that hold their objects, and asks
 * all shards level by level whom these wait for, beyond those that the shard finds by itself. The reads are of different
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
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");
    /** How long one question to all shards may take. */
    static final Duration PATIENCE = Duration.ofSeconds(2);
    /** How long a search rests after one that a shard has not answered: each leaves requests behind that wait for it. */
    private static final Duration REST = Duration.ofSeconds(10);
    /** A search that has read waits rests so many times as long as it took, and at least two seconds. */
    private static final int RESTS = 10;

    private static final Duration SHORTEST_REST = Duration.ofSeconds(2);
    /** How many runs that hold objects one search begins with. The next one begins behind them. */
    private static final int HOLDERS = 200;
    /** A search ends when it has read so many runs: what is beyond waits for one that begins elsewhere. */
    private static final int MOST_RUNS = 10_000;

    private final Shards shards;
    private final Ledger ledger;
    private final Duration patience;
    private final List<Search> searches;
    private final List<Hints.Subscription> subscriptions = new ArrayList<>();
    private volatile boolean closed;

    CyclesAcross(Shards shards, Ledger ledger, Duration patience) {
        this.shards = shards;
        this.ledger = ledger;
        this.patience = patience;
        this.searches = IntStream.range(0, shards.size()).mapToObj(Search::new).toList();
    }

    /** Begins to listen to sweeps if there are several shards, or have been. */
    void start() {
        if (shards.haveBeenSeveral()) {
            searches.forEach(search ->
                    subscriptions.add(shards.store(search.shard).hints().subscribe(search::hear)));
        }
    }

    /** Looks once from the calls of every shard, in the thread of the caller. */
    void look() {
        if (shards.haveBeenSeveral()) {
            searches.forEach(Search::look);
        }
    }

    /** The searches that begin at calls of one shard, one after the other. */
    private final class Search {
        private final int shard;
        private final AtomicBoolean underWay = new AtomicBoolean();
        private boolean silent;
        private long notBefore = System.nanoTime();
        private long after;

        Search(int shard) {
            this.shard = shard;
        }

        private void hear(Hints.Hint hint) {
            if (hint instanceof Hints.CallsWait && underWay.compareAndSet(false, true)) {
                Thread.ofVirtual()
                        .name("perdure-call-cycles-" + shards.name(shard))
                        .start(this::lookAndReport);
            }
        }

        private void lookAndReport() {
            try {
                if (System.nanoTime() - notBefore >= 0) {
                    look();
                    silent = false;
                }
            } catch (StoreException trouble) {
                notBefore = System.nanoTime() + REST.toNanos();
                if (!silent && !closed && trouble.kind() != StoreException.Kind.MOVING) {
                    silent = true;
                    LOG.warn(
                            "Whether calls of virtual objects on shard '{}' wait for each other in a cycle over several shards is not known. It is looked for again. {}",
                            shards.name(shard),
                            trouble.getMessage());
                }
            } catch (RuntimeException | Error thrown) {
                if (!closed) {
                    LOG.error("The search for calls that wait for each other failed. It is made again.", thrown);
                }
            } finally {
                underWay.set(false);
            }
        }

        private void look() {
            List<Long> holders = shards.ask(
                            List.of(shard),
                            patience,
                            one -> shards.exchange(one).waits().holders(after, HOLDERS))
                    .getFirst();
            after = holders.size() == HOLDERS ? holders.getLast() : 0;
            if (!holders.isEmpty()) {
                long began = System.nanoTime();
                int version = shards.version();
                List<WaitGraph.Cycle> cycles = graph(holders).cycles();
                if (!cycles.isEmpty()) {
                    refuse(cycles, version);
                }
                long now = System.nanoTime();
                notBefore = now + Math.max(SHORTEST_REST.toNanos(), RESTS * (now - began));
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
