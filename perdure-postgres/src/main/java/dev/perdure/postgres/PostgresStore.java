package dev.perdure.postgres;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import dev.perdure.postgres.hint.ListeningLoop;
import dev.perdure.postgres.hint.Notifier;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.limiter.PostgresPermits;
import dev.perdure.postgres.payload.PostgresPayloads;
import dev.perdure.postgres.payload.PostgresValues;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.reaction.PostgresReactions;
import dev.perdure.postgres.read.JournalSql;
import dev.perdure.postgres.read.LinksSql;
import dev.perdure.postgres.read.ObjectListSql;
import dev.perdure.postgres.read.PostgresJournals;
import dev.perdure.postgres.read.PostgresLinks;
import dev.perdure.postgres.read.PostgresMailboxes;
import dev.perdure.postgres.read.PostgresRuns;
import dev.perdure.postgres.read.PostgresStates;
import dev.perdure.postgres.read.PostgresStatistics;
import dev.perdure.postgres.read.QuerySql;
import dev.perdure.postgres.removal.PostgresRemovals;
import dev.perdure.postgres.report.PostgresReports;
import dev.perdure.postgres.setup.Migrations;
import dev.perdure.postgres.setup.Preflight;
import dev.perdure.postgres.shard.PostgresExchange;
import dev.perdure.postgres.shard.PostgresPlaces;
import dev.perdure.postgres.status.PostgresStatus;
import dev.perdure.postgres.transaction.JournalBook;
import dev.perdure.postgres.version.PostgresVersions;
import dev.perdure.postgres.work.LateRuns;
import dev.perdure.postgres.work.LimitedClaims;
import dev.perdure.postgres.work.Placements;
import dev.perdure.postgres.work.PostgresDispatch;
import dev.perdure.postgres.work.PostgresLeases;
import dev.perdure.postgres.work.StartLimits;
import dev.perdure.postgres.work.Watermark;
import dev.perdure.postgres.write.OldCycles;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.LedgerSql;
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
import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The store for production, on PostgreSQL 14 to 18. Any number of processes share one schema. Thread-safe.
 *
 * <pre>{@code
 * try (var store = PostgresStore.on(dataSource).schema("perdure").open();
 *         var perdure = Perdure.on(store).register(new Orders(payments, shipping)).start()) {
 *     …
 * }
 * }</pre>
 *
 * <p>Closing the store ends its threads and frees its connections. It does not close the {@link DataSource}.
 */
public final class PostgresStore implements Store {
    private static final int CONNECTIONS_BESIDE_LANES = 2;
    private static final int SWEEP_BATCH = 500;

    private final Database database;
    private final Backends backends;
    private final PostgresHints hints = new PostgresHints();
    private final PostgresLedger ledger;
    private final OldCycles oldCycles;
    private final PostgresLeases leases;
    private final PostgresDispatch dispatch;
    private final PostgresJournals journals;
    private final PostgresMailboxes mailboxes;
    private final PostgresRuns runs;
    private final PostgresStatistics statistics;
    private final PostgresStates states;
    private final JournalBook journalBook;
    private final PostgresQueues queues;
    private final PostgresPermits permits;
    private final PostgresReports reports;

    private final PostgresReactions reactions;
    private final PostgresRemovals removals;
    private final PostgresVersions versions;
    private final PostgresPayloads payloads;
    private final PostgresValues values;
    private final PostgresStatus status;
    private final PostgresExchange exchange;
    private final DataSource source;
    private final Schema schema;
    private volatile @Nullable ListeningLoop listening;
    private final List<AutoCloseable> parts = Collections.synchronizedList(new ArrayList<>());

    private final int lanes;
    private final Workers workers;

    private PostgresStore(Database database, PostgresStoreBuilder wanted) {
        this.database = database;
        this.source = wanted.source;
        this.schema = wanted.schema;
        this.lanes = wanted.lanes;
        LedgerSql ledgerSql = new LedgerSql(schema);
        LeaseSql leaseSql = new LeaseSql(schema);
        QuerySql querySql = new QuerySql(schema);
        this.backends = new Backends(schema, System::nanoTime);
        this.workers = new Workers(database, leaseSql, backends);
        Keys keys = new Keys(schema, database);
        keys.refill();
        this.queues = new PostgresQueues(database, schema);
        queues.refresh();
        this.reactions = new PostgresReactions(database, ledgerSql.reactions, ledgerSql.settings);
        this.permits = new PostgresPermits(database, schema, ledgerSql, workers, hints);
        this.ledger = new PostgresLedger(database, schema, ledgerSql, keys, workers, queues, hints, wanted.believes);
        this.oldCycles = new OldCycles(ledger::breakOldCycles);
        parts.add(oldCycles);
        this.leases = new PostgresLeases(database, ledgerSql, leaseSql, workers, hints, this::tidy);
        InboxReader inbox = new InboxReader(database, schema, ledger);
        this.dispatch = new PostgresDispatch(
                database,
                schema,
                ledgerSql,
                workers,
                new LimitedClaims(
                        database,
                        schema,
                        ledgerSql,
                        workers,
                        queues,
                        new Placements(database, schema, ledgerSql, ledger),
                        wanted.believes),
                permits,
                inbox,
                new StartLimits(database, schema, ledger),
                new LateRuns(database, reactions, hints),
                ledger,
                new Watermark(),
                hints);
        this.journals = new PostgresJournals(database, new JournalSql(schema, ledgerSql.settings));
        this.mailboxes = new PostgresMailboxes(database, schema, hints.waitingCallers());
        ObjectListSql objectLists = new ObjectListSql(schema);
        this.runs = new PostgresRuns(database, querySql, objectLists, hints.waitingCallers());
        this.statistics = new PostgresStatistics(database, schema);
        this.states = new PostgresStates(database, ledgerSql.objects, objectLists);
        this.reports = new PostgresReports(database, schema, ledgerSql, workers);
        this.removals = new PostgresRemovals(database, schema, ledgerSql);
        this.versions = new PostgresVersions(database, schema);
        this.status = new PostgresStatus(database, schema, removals, versions);
        this.payloads = new PostgresPayloads(database, schema, ledgerSql.settings);
        this.exchange = new PostgresExchange(
                database,
                schema,
                ledgerSql.elsewhere,
                keys,
                inbox::follow,
                new PostgresLinks(database, new LinksSql(schema), runs),
                new PostgresPlaces(database, schema, hints, queues::refresh));
        this.values = new PostgresValues(database, schema, ledgerSql.settings);
        this.journalBook = new JournalBook(database, schema, workers);
    }

    /** Begins to set up a store on this database. */
    public static PostgresStoreBuilder on(DataSource source) {
        return new PostgresStoreBuilder(source);
    }

    /** The migrations of a schema as one script, for a DBA who runs it in one transaction. */
    public static String migrations(String schema) {
        return new Migrations(new Schema(schema)).script();
    }

    /** The grants for a role of workers and a role of viewers. The owner runs them after every migration. */
    public static String grants(String schema, String workerRole, String viewerRole) {
        return Migrations.resource("roles.sql")
                .replace("${schema}", new Schema(schema).name())
                .replace("${worker}", new Schema(workerRole).name())
                .replace("${viewer}", new Schema(viewerRole).name());
    }

    static PostgresStore open(PostgresStoreBuilder wanted) {
        boolean listensOnSource = wanted.notifications && wanted.listenOn == null;
        int listening = listensOnSource ? 1 : 0;
        int most = wanted.lanes + CONNECTIONS_BESIDE_LANES;
        Database database = new Database(Preflight.connect(wanted.source, most), wanted.time);
        try {
            Preflight.requireConnections(wanted.source, CONNECTIONS_BESIDE_LANES + listening, most + listening);
            Preflight.requireServer(database, wanted.unsafeCommit);
            Preflight.requireNoCitus(database, wanted.schema);
            migrate(database, wanted);
            Preflight.requireRights(database, wanted.schema);
            PostgresStore store = new PostgresStore(database, wanted);
            store.exchange.membership(); // A shard tells parents that are elsewhere, also if it is opened alone.
            if (wanted.notifications) {
                store.notifyAndListen(wanted.listenOn == null ? wanted.source : wanted.listenOn, wanted.schema);
            }
            return store;
        } catch (RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** Lets workers go on with runs that have just been moved here: no worker of this database holds them. */
    void resumeMoved() {
        int given;
        do {
            given = leases.sweep(SWEEP_BATCH).size();
        } while (given == SWEEP_BATCH);
        hints.tell(new Hints.WorkReady());
    }

    /** Housekeeping that a sweep does; most of it only from time to time. */
    private void tidy(boolean callsWait) {
        if (callsWait) {
            oldCycles.look();
            hints.tellHere(new Hints.CallsWait());
        }
        queues.tidy();
        permits.tidy();
        exchange.tidy();
    }

    private static void migrate(Database database, PostgresStoreBuilder wanted) {
        Migrations migrations = new Migrations(wanted.schema);
        if (migrations.isComplete(database)) {
            return;
        }
        if (!wanted.migrate) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The schema '%s' has not been migrated, and migrate(false) was set. Run what PostgresStore.migrations(\"%s\") prints."
                            .formatted(wanted.schema.name(), wanted.schema.name()),
                    null);
        }
        migrations.migrate(database);
        Preflight.requireNoCitus(database, wanted.schema); // Citus may take over every new schema.
    }

    private void notifyAndListen(DataSource listenOn, Schema schema) {
        String self = UUID.randomUUID().toString();
        Notifier notifier = new Notifier(database, schema, self);
        parts.add(notifier);
        hints.sendThrough(notifier, workers::isHere);
        ListeningLoop loop = new ListeningLoop(listenOn, schema, self, hints, backends);
        parts.add(loop);
        listening = loop;
    }

    /** For tests that notify: waits until the store listens. */
    void awaitListening() throws InterruptedException {
        ListeningLoop loop = listening;
        if (loop == null || !loop.awaitListening(Duration.ofSeconds(10))) {
            throw new IllegalStateException("The store does not listen.");
        }
    }

    JournalBook journalBook() {
        return journalBook;
    }

    Schema schema() {
        return schema;
    }

    /** The source of its connections. */
    DataSource source() {
        return source;
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
        return dispatch;
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
        return status.read();
    }

    @Override
    public StoreHealth health() {
        return status.health();
    }

    @Override
    public Hints hints() {
        return hints;
    }

    @Override
    public Optional<Exchange> exchange() {
        return Optional.of(exchange);
    }

    @Override
    public int lanes() {
        return lanes;
    }

    @Override
    public void close() {
        for (AutoCloseable part : List.copyOf(parts)) {
            try {
                part.close();
            } catch (Exception e) {
                throw new IllegalStateException("The parts of the store close without exceptions.", e);
            }
        }
        database.close();
    }
}
