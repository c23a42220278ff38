package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.shards.limit.PlaceRequests;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.ShardMap;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store that divides its runs among several other stores, its shards, such as PostgreSQL servers. There is no distributed
 * transaction: everything of a run is on one shard, and what it sends to a run of another shard is kept by its own until it
 * has arrived there.
 *
 * <pre>{@code
 * Store store = ShardedStore.over(
 *         shard("a", PostgresStore.on(sourceA).open()),
 *         shard("b", PostgresStore.on(sourceB).open()));
 * }</pre>
 *
 * <p>How it works. A run belongs to one of 256 partitions by its id, and a virtual object by its type and key. A map says which
 * shard has which partition. The first process that opens the shards stores the map in each of them; from then on every
 * shard refuses a process that opens it under another name or together with other shards. An engine has a worker for each
 * shard, with a lease of its own, so a shard that is out of reach stops its own runs and no others. Queries that need all
 * shards ask them at the same time, and fail with the name of a shard that does not answer.
 *
 * <p>Thread-safe. Closing it closes the shards.
 */
public final class ShardedStore implements Store {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Shards shards;
    private final Forwarding forwarding;
    private final CyclesAcross cycles;
    private final ShardedLedger ledger;
    private final ShardedLeases leases;
    private final OwnJournals journals;
    private final ShardedMailboxes mailboxes;
    private final ShardedStates states;
    private final ShardedPayloads payloads;
    private final ShardedValues values;
    private final ShardedRuns runs;
    private final ShardedQueues queues;
    private final ShardedPermits permits;
    private final ShardedVersions versions;
    private final OwnReports reports;
    private final Reactions reactions;
    private final ShardedStatistics statistics;
    private final ShardedRemovals removals;
    private final Parts parts;
    private final PlaceRequests placeRequests;

    private ShardedStore(Shards shards, boolean atOnce) {
        this.shards = shards;
        this.placeRequests = new PlaceRequests(
                shards.divisions(),
                shards::places,
                shards.all().stream().map(Shard::name).toList());
        this.forwarding = new Forwarding(shards, atOnce, placeRequests::waits);
        this.ledger = new ShardedLedger(shards, forwarding);
        this.cycles = new CyclesAcross(shards, ledger, CyclesAcross.PATIENCE);
        this.leases = new ShardedLeases(shards, () -> {
            forwarding.applied();
            if (atOnce) {
                cycles.look();
            }
        });
        this.journals = new OwnJournals(shards);
        this.mailboxes = new ShardedMailboxes(
                shards,
                shards.askHere(0, first -> shards.store(first).mailboxes().secret()));
        this.states = new ShardedStates(shards);
        this.payloads = new ShardedPayloads(shards);
        this.values = new ShardedValues(shards);
        this.runs = new ShardedRuns(shards, forwarding);
        this.queues = new ShardedQueues(shards);
        this.permits = new ShardedPermits(shards, shards.indexes(), placeRequests::waits);
        this.versions = new ShardedVersions(shards);
        this.reports = new OwnReports(shards);
        this.reactions = new Reactions(shards);
        this.statistics = new ShardedStatistics(shards);
        this.removals = new ShardedRemovals(shards);
        this.parts = new ShardParts(
                shards.indexes().stream()
                        .<Store>map(shard -> new ShardView(
                                this,
                                shards,
                                shard,
                                new ShardedPermits(shards, List.of(shard), placeRequests::waits),
                                () -> placeRequests.waits(shard)))
                        .toList(),
                shards);
        if (shards.haveBeenSeveral()) {
            shards.tellEach((shard, store) -> store.exchange()
                    .ifPresent(exchange -> exchange.follow(new Exchange.Route(shard, shards::of, ledger))));
        }
        cycles.start();
        forwarding.start(); // last: if something before fails, nobody could close it
    }

    /**
     * Opens a store over these shards.
     *
     * @throws dev.perdure.error.StoreException if a shard has another name or another map than these, or runs from before
     *     it was one of several shards
     */
    public static ShardedStore over(Shard... shards) {
        return over(false, shards);
    }

    /** A store whose batches return only when everything that they send has arrived, for tests of stores. */
    static ShardedStore settling(Shard... shards) {
        return over(true, shards);
    }

    private static ShardedStore over(boolean atOnce, Shard... shards) {
        List<Shard> sorted =
                Stream.of(shards).sorted(Comparator.comparing(Shard::name)).toList();
        ShardMap map = ShardMap.first(sorted.stream().map(Shard::name).toList());
        if (map.shards().size() < sorted.size()) {
            throw new InvalidRequestException("Two of the shards %s have the same name. Give each a name of its own."
                    .formatted(sorted.stream().map(Shard::name).toList()));
        }
        return new ShardedStore(new Shards(sorted, Memberships.agreed(sorted, map), PATIENCE), atOnce);
    }

    /** Which part has what. */
    private record ShardParts(List<Store> stores, Shards shards) implements Parts {
        @Override
        public int of(RunId run) {
            return shards.of(run);
        }

        @Override
        public boolean has(int part, RunId run) {
            return shards.has(part, run);
        }

        @Override
        public void follow(int part) {
            shards.followNewer(part);
        }

        @Override
        public String prefix(ObjectKey object) {
            return shards.prefix(object);
        }

        @Override
        public String prefix(String definition, StartKey key) {
            return shards.prefix(definition, key);
        }

        @Override
        public String prefix(String queueKey) {
            return shards.prefix(queueKey);
        }
    }

    /** The journals, each on the shard of its run. */
    private record OwnJournals(Shards shards) implements Journals {
        @Override
        public Page read(RunRef run, int afterPosition, int maxBytes) {
            return shards.having(run).journals().read(run, afterPosition, maxBytes);
        }

        @Override
        public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
            return ShardedRuns.merged(Parts.divide(runs, shards::of).entrySet().stream()
                    .map(some -> shards.store(some.getKey()).journals().readFirst(some.getValue(), maxBytes))
                    .toList());
        }

        @Override
        public TimedPage readByTime(RunRef run, TimePlace after, int limit, int maxBytes) {
            return shards.having(run).journals().readByTime(run, after, limit, maxBytes);
        }
    }

    /** What steps report, on the shard of their run. */
    private record OwnReports(Shards shards) implements Reports {
        @Override
        public void write(WorkerId worker, List<Report> reports) {
            Parts.divide(reports, report -> shards.of(report.source().run()))
                    .forEach((shard, some) -> shards.store(shard).reports().write(worker, some));
        }

        @Override
        public Optional<Reported> find(RunRef run, int position) {
            return shards.having(run).reports().find(run, position);
        }

        @Override
        public List<Reported> open(RunRef run) {
            return shards.having(run).reports().open(run);
        }

        @Override
        public void log(WorkerId worker, List<Line> lines) {
            Parts.divide(lines, line -> shards.of(line.source().run()))
                    .forEach((shard, some) -> shards.store(shard).reports().log(worker, some));
        }

        @Override
        public LogPage log(RunRef run, LogFilter filter) {
            return shards.having(run).reports().log(run, filter);
        }
    }

    /** Every shard knows all reactions, and starts their runs beside the runs that they are about. */
    private record Reactions(Shards shards) implements ReactionRules {
        @Override
        public void declare(Collection<ReactionInfo> reactions) {
            shards.tell(store -> store.reactions().declare(reactions));
        }

        @Override
        public boolean apply(Order order, @Nullable Audit audit) {
            boolean known = false;
            for (Shard shard : shards.all()) {
                known |= shard.store().reactions().apply(order, audit);
            }
            return known;
        }

        @Override
        public List<ReactionInfo> list() {
            return shards.store(0).reactions().list();
        }
    }

    @Override
    public Parts parts() {
        return parts;
    }

    @Override
    public Ledger ledger() {
        return ledger;
    }

    @Override
    public Leases leases() {
        return leases;
    }

    @Override
    public Dispatch dispatch() {
        return leases;
    }

    @Override
    public Journals journals() {
        return journals;
    }

    @Override
    public Mailboxes mailboxes() {
        return mailboxes;
    }

    @Override
    public States states() {
        return states;
    }

    @Override
    public Payloads payloads() {
        return payloads;
    }

    @Override
    public StoredValues values() {
        return values;
    }

    @Override
    public Runs runs() {
        return runs;
    }

    @Override
    public QueueRules queues() {
        return queues;
    }

    @Override
    public Permits permits() {
        return permits;
    }

    @Override
    public VersionRules versions() {
        return versions;
    }

    @Override
    public Reports reports() {
        return reports;
    }

    @Override
    public ReactionRules reactions() {
        return reactions;
    }

    @Override
    public Statistics statistics() {
        return statistics;
    }

    @Override
    public Removals removals() {
        return removals;
    }

    @Override
    public StoreStatus status() {
        return ShardedStatus.status(shards);
    }

    @Override
    public StoreHealth health() {
        return ShardedStatus.health(shards);
    }

    @Override
    public Hints hints() {
        return listener -> {
            List<Hints.Subscription> all = shards.all().stream()
                    .map(shard -> shard.store().hints().subscribe(listener))
                    .toList();
            return () -> all.forEach(Hints.Subscription::close);
        };
    }

    @Override
    public int lanes() {
        return shards.all().stream()
                .mapToInt(shard -> shard.store().lanes())
                .min()
                .orElseThrow();
    }

    @Override
    public void close() {
        cycles.close();
        forwarding.close();
        placeRequests.close();
        shards.all().forEach(shard -> shard.store().close());
    }
}
