package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Database.RefusedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.reaction.ReactionParts;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.part.DagParts;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.MailParts;
import dev.perdure.postgres.write.part.ObjectParts;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.version.WorkerInfo.Heap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Keeps leases, and takes the runs of workers whose lease has ended.
 *
 * <p>How it works: a sweep first expires workers, in a transaction of its own. They lose their lanes, so from its
 * commit on they write nothing. It leaves out workers with a batch in flight, and then waits for one of these for a
 * moment, so that a batch that hangs delays only the sweep of its own worker. Then the sweep makes runs ready, one
 * batch at a time, with the statement by which a worker gives up a run that it failed to continue. If the server
 * refuses a batch because of a run, the sweep continues run by run and leaves that one out. The thread of a sweep renews a
 * lease, so it waits for connections behind no other call.
 */
public final class PostgresLeases implements Leases {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    private static final int TAKEN_BACK_AT_ONCE = 1_000;

    /** What every sweep does besides. */
    @FunctionalInterface
    public interface Housekeeping {
        /**
         * A sweep takes place.
         *
         * @param callsWait whether calls of virtual objects wait for their turn
         */
        void sweep(boolean callsWait);
    }

    private final Database database;
    private final LeaseSql sql;
    private final LedgerSql ledgerSql;
    private final Script script = new Script();
    private final Workers workers;
    private final PostgresHints hints;
    private final Housekeeping housekeeping;

    public PostgresLeases(
            Database database,
            LedgerSql ledgerSql,
            LeaseSql sql,
            Workers workers,
            PostgresHints hints,
            Housekeeping housekeeping) {
        this.database = database;
        this.sql = sql;
        this.ledgerSql = ledgerSql;
        this.workers = workers;
        this.hints = hints;
        this.housekeeping = housekeeping;
    }

    @Override
    public Instant join(Joining joining) {
        Instant now = workers.join(joining);
        workers.watch(joining.id());
        if (joining.former().isEmpty()) {
            database.poolWarning(joining.lease()).ifPresent(LOG::warn);
        }
        return now;
    }

    @Override
    public @Nullable Instant renew(WorkerId worker, Heap heap) {
        return workers.renew(worker, heap);
    }

    @Override
    public void leave(WorkerId worker) {
        workers.leave(worker);
    }

    @Override
    public List<Owned> owned(WorkerId worker) {
        Integer number = workers.number(worker);
        if (number == null) {
            return List.of();
        }
        workers.lanes().row(number, Lanes.POLL); // The runs that an unanswered poll claims are claimed by now.
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.owned)) {
                new Parameters(statement).integer(number);
                try (ResultSet rows = statement.executeQuery()) {
                    return database.unreadable()
                            .all(
                                    rows,
                                    row -> new Owned(
                                            new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                                            row.getLong("epoch")));
                }
            }
        });
    }

    @Override
    public List<RunChange> sweep(int limit) {
        try {
            if (!expireWorkers()) {
                return List.of();
            }
        } catch (LockedException moving) { // a partition moves, and its tables are locked for a moment
            return List.of();
        }
        List<RunChange> changes;
        try {
            changes = giveBack(limit, new long[0]);
        } catch (RefusedException refused) {
            changes = giveBackSingly(limit);
        }
        takeBack();
        tell(changes);
        return changes;
    }

    /** The processes of workers from which runs were taken have joined again: that does not count as a recovery. */
    private void takeBack() {
        database.callFirst(connection -> {
            String both = String.join(";\n", ledgerSql.settings, sql.takeBack);
            try (PreparedStatement statement = Database.prepare(connection, both)) {
                new Parameters(statement)
                        .text(Database.LOCK_TIMEOUT)
                        .integer(TAKEN_BACK_AT_ONCE)
                        .integer(TAKEN_BACK_AT_ONCE);
                return statement.execute();
            }
        });
    }

    private void tell(List<RunChange> changes) {
        for (RunChange change : changes) {
            if (change.state() == RunState.READY) {
                hints.tell(new Hints.WorkReady());
            } else if (change.state().isTerminal()) {
                hints.tell(new Hints.RunEnded(change.runId()));
                if (ledgerSql.elsewhere.isShard()) {
                    hints.tell(new Hints.OutgoingKept());
                }
            }
        }
    }

    /** Expires workers. Returns whether dead workers may still hold runs. */
    private boolean expireWorkers() {
        Expired expired = expire();
        housekeeping.sweep(expired.callsWait());
        return (expired.busy() != null && expireBusy(expired.busy())) || expired.leftBehind();
    }

    /**
     * The result of expiring workers.
     *
     * @param busy a worker with a batch in flight, or null
     * @param leftBehind whether any dead worker still holds runs
     * @param callsWait whether calls of virtual objects wait for their turn
     */
    private record Expired(@Nullable Integer busy, boolean leftBehind, boolean callsWait) {}

    private Expired expire() {
        return database.callFirst(connection -> {
            String all = String.join(
                    ";\n",
                    ledgerSql.settings,
                    sql.forget,
                    sql.expire,
                    sql.busy,
                    sql.leftBehind,
                    ledgerSql.objects.anyWaiting);
            try (PreparedStatement statement = Database.prepare(connection, all)) {
                new Parameters(statement).text(Database.LOCK_TIMEOUT);
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                results.skip();
                results.skip();
                Integer busy = results.one().getObject("number", Integer.class);
                boolean leftBehind = results.one().getBoolean("any");
                return new Expired(busy, leftBehind, results.one().getBoolean("any"));
            }
        });
    }

    /** Waits for the batches of one worker, so for no longer than one lock timeout, however many workers are busy. */
    private boolean expireBusy(int worker) {
        try {
            return database.callFirst(connection -> {
                String both = String.join(";\n", ledgerSql.settings, sql.expireBusy);
                try (PreparedStatement statement = Database.prepare(connection, both)) {
                    new Parameters(statement).text(Database.LOCK_TIMEOUT).integer(worker);
                    statement.execute();
                    Results results = new Results(statement);
                    results.skip();
                    return results.one().getLong(1) > 0;
                }
            });
        } catch (LockedException batchInFlight) {
            // It hangs in the server and keeps its lane. The next sweep tries again; this one continues with the
            // others.
            return false;
        }
    }

    private List<RunChange> giveBackSingly(int limit) {
        List<RunChange> changes = new ArrayList<>();
        List<Long> skipped = new ArrayList<>();
        while (changes.size() < limit) {
            long[] without = skipped.stream().mapToLong(Long::longValue).toArray();
            long[] tried = new long[1];
            try {
                List<RunChange> one =
                        database.inFirstTransaction(connection -> giveBack(connection, 1, without, tried));
                if (one.isEmpty()) {
                    break;
                }
                changes.addAll(one);
            } catch (RefusedException refused) {
                LOG.error("The run with key {} cannot be taken from its dead worker.", tried[0], refused);
                skipped.add(tried[0]);
            }
        }
        return changes;
    }

    private List<RunChange> giveBack(int limit, long[] without) {
        return database.inFirstTransaction(connection -> giveBack(connection, limit, without, new long[1]));
    }

    /** A run that a dead worker holds. */
    private record LostRun(
            long key, long epoch, int worker, UUID workerId, boolean awaited, boolean precedes, boolean frees) {}

    private List<RunChange> giveBack(Connection connection, int limit, long[] without, long[] tried)
            throws SQLException {
        List<LostRun> lost = lostRuns(connection, limit, without);
        if (lost.isEmpty()) {
            return List.of();
        }
        tried[0] = lost.get(0).key();
        script.send(connection, parts(lost));
        return changes(connection, lost);
    }

    /**
     * Makes runs ready. Killed runs among them end, tell their parents, and let other runs begin. The next poll finds
     * the runs that can continue.
     */
    private List<Part> parts(List<LostRun> lost) {
        List<Part> parts = new ArrayList<>();
        parts.add(new Part(ledgerSql.moves.move, parameters -> bind(parameters, lost)));
        parts.add(new Part(
                sql.takenOver,
                parameters -> parameters
                        .ints(lost.stream().mapToInt(LostRun::worker).toArray())
                        .longs(keys(lost.stream()))));
        long[] awaited = keys(lost.stream().filter(LostRun::awaited));
        if (awaited.length > 0) {
            parts.add(MailParts.answer(ledgerSql.mail, sending(), awaited, new String[0], Results::skip));
        }
        long[] answering = keys(lost.stream().filter(run -> Keys.answers(run.key())));
        if (answering.length > 0 && ledgerSql.elsewhere.isShard()) {
            parts.add(ledgerSql.elsewhere.tell(sending(), answering, new String[0], () -> {}));
        }
        long[] preceding = keys(lost.stream().filter(LostRun::precedes));
        if (preceding.length > 0) {
            parts.add(DagParts.open(ledgerSql.dag, sending(), preceding, new int[preceding.length], Results::skip));
        }
        long[] holding = keys(lost.stream().filter(LostRun::frees));
        if (holding.length > 0) {
            parts.add(ObjectParts.release(
                    ledgerSql.objects, sending(), holding, new int[holding.length], new String[0], Results::skip));
        }
        parts.add(ReactionParts.react(
                ledgerSql.reactions,
                TouchedRuns.of(keys(lost.stream())),
                database.time(),
                () -> hints.tell(new Hints.WorkReady())));
        return parts;
    }

    /** The sweep has no lane: it has locked everything that it changes, and the former holders write nothing more. */
    private Sending sending() {
        return new Sending(new Sender(null, 0), database.time(), Set.of());
    }

    private List<RunChange> changes(Connection connection, List<LostRun> lost) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.given)) {
            new Parameters(statement).longs(keys(lost.stream()));
            try (ResultSet rows = statement.executeQuery()) {
                return database.unreadable()
                        .all(
                                rows,
                                row -> new RunChange(
                                        RunId.of(row.getString("id")),
                                        row.getString("definition"),
                                        Codes.state(row.getInt("state")),
                                        Optional.ofNullable(row.getString("reason"))));
            }
        }
    }

    private static long[] keys(Stream<LostRun> lost) {
        return lost.mapToLong(LostRun::key).toArray();
    }

    private List<LostRun> lostRuns(Connection connection, int limit, long[] without) throws SQLException {
        String both = String.join(";\n", ledgerSql.settings, sql.lostRuns);
        try (PreparedStatement statement = Database.prepare(connection, both)) {
            new Parameters(statement)
                    .text(Database.LOCK_TIMEOUT)
                    .longs(without)
                    .integer(limit)
                    .integer(limit);
            statement.execute();
            Results results = new Results(statement);
            results.skip();
            ResultSet rows = results.next();
            List<LostRun> lost = new ArrayList<>();
            while (rows.next()) {
                lost.add(new LostRun(
                        rows.getLong("key"),
                        rows.getLong("epoch"),
                        rows.getInt("number"),
                        rows.getObject("worker", UUID.class),
                        rows.getBoolean("awaited"),
                        rows.getBoolean("precedes"),
                        rows.getBoolean("frees")));
            }
            return lost;
        }
    }

    private void bind(Parameters parameters, List<LostRun> lost) throws SQLException {
        List<Moves.Row> rows = lost.stream()
                .map(each -> Moves.Row.recovery(
                        each.key(),
                        each.epoch(),
                        each.worker(),
                        "the lease of its worker " + each.workerId() + " ended"))
                .toList();
        Moves.COLUMNS.bind(parameters.time(database.time()), rows);
        new Entries(List.of()).bind(sending().laneOfWorker(parameters));
    }
}
