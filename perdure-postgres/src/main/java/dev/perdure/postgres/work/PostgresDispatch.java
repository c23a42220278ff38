package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Lanes;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.spi.Dispatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Hands out work: a poll is one round trip, and another if runs in memory were signalled. A poll that sees something in the
 * inbox does it, too: what becomes ready by that is found by the next. Runs because of which the server refuses a poll are
 * paused ({@link StuckRuns}).
 */
public final class PostgresDispatch implements Dispatch {
    private static final String ANY_VERSION = "";

    private final Database database;
    private final LedgerSql ledgerSql;
    private final DispatchSql sql;
    private final Claims claims;
    private final Workers workers;
    private final InboxReader inbox;
    private final Watermark watermark;
    private final StuckRuns stuckRuns;

    public PostgresDispatch(Database database, Schema schema, Workers workers, InboxReader inbox, Watermark watermark) {
        this.database = database;
        this.ledgerSql = new LedgerSql(schema);
        this.sql = new DispatchSql(schema, ledgerSql);
        this.claims = new Claims(schema, ledgerSql, database);
        this.workers = workers;
        this.inbox = inbox;
        this.watermark = watermark;
        this.stuckRuns = new StuckRuns(database, sql, workers.lanes());
    }

    @Override
    public Polled poll(Poll request) {
        Integer worker = workers.number(request.worker());
        if (worker == null) {
            return new Polled(List.of(), List.of(), null, false);
        }
        List<RunChange> paused = new ArrayList<>();
        Answer answer = ask(request, worker, paused);
        if (!answer.alive()) {
            return new Polled(List.of(), List.of(), null, false);
        }
        if (answer.inboxWaits()) {
            inbox.read();
        }
        return new Polled(
                answer.claimed(), signalled(answer.signalled(), worker), answer.nextDue(), answer.aloneWaits(), paused);
    }

    /** Polls; should the server refuse that because of some runs, it polls again without these. */
    private Answer ask(Poll request, int worker, List<RunChange> paused) {
        try {
            return ask(request, worker, watermark.floor(request));
        } catch (RuntimeException failed) {
            if (!StuckRuns.isOfOneRow(failed)) {
                throw failed;
            }
            paused.addAll(stuckRuns.setAside(request, worker));
            if (paused.isEmpty()) {
                throw failed;
            }
            return ask(request, worker, watermark.floor(request));
        }
    }

    private Answer ask(Poll request, int worker, Watermark.Floor floor) {
        int lane = workers.lanes().row(worker, Lanes.POLL);
        try {
            return database.call(connection -> poll(connection, request, worker, lane, floor));
        } catch (LockedException expiring) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "The lane of this worker is locked by another transaction.",
                    expiring);
        } catch (RuntimeException | Error failure) {
            workers.lanes().failed(worker, lane, failure);
            throw failure;
        }
    }

    private List<Signalled> signalled(List<Long> keys, int worker) {
        Map<Long, Claimed> details =
                claims.read(keys.stream().mapToLong(Long::longValue).toArray(), worker);
        return keys.stream()
                .map(details::get)
                .filter(Objects::nonNull)
                .map(run -> new Signalled(run.run(), run.epoch(), run.control()))
                .toList();
    }

    /** What the poll itself says: of those that were signalled only their keys. */
    private record Answer(
            List<Claimed> claimed,
            List<Long> signalled,
            @Nullable Instant nextDue,
            boolean aloneWaits,
            boolean inboxWaits,
            boolean alive) {}

    private Answer poll(Connection connection, Poll request, int worker, int lane, Watermark.Floor floor)
            throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.poll)) {
            Parameters parameters = new Parameters(statement);
            parameters.text(Database.LOCK_TIMEOUT).integer(worker).integer(lane).time(database.time());
            parameters.integer(worker).integer(worker).integer(lane);
            suiting(parameters, request).integer(worker).integer(lane);
            parameters.integer(worker).integer(lane).time(database.time());
            suiting(parameters, request).bool(request.aloneToo() && request.limit() > 0);
            parameters
                    .integer(floor.rank())
                    .time(floor.since())
                    .number(floor.rank())
                    .bool(floor.urgentToo())
                    .integer(request.limit())
                    .integer(request.limit());
            parameters.integer(worker).integer(worker);
            statement.execute();
            return read(new Results(statement), request, floor);
        }
    }

    static Parameters suiting(Parameters parameters, Poll request) throws SQLException {
        String[] versions =
                request.version() == null ? new String[] {ANY_VERSION} : new String[] {ANY_VERSION, request.version()};
        return parameters
                .texts(request.queues().toArray(String[]::new))
                .texts(request.definitions().toArray(String[]::new))
                .texts(versions);
    }

    private Answer read(Results results, Poll request, Watermark.Floor floor) throws SQLException {
        results.skip();
        results.skip();
        List<Long> signalled = new ArrayList<>();
        ResultSet rows = results.next();
        while (rows.next()) {
            signalled.add(rows.getLong("key"));
        }
        ResultSet outlook = results.one();
        Instant nextDue = Results.timeOrNull(outlook, "next_due");
        long loners = outlook.getLong("loners");
        boolean inboxWaits = outlook.getBoolean("inbox_waits");
        boolean alive = outlook.getBoolean("alive");

        List<Claimed> claimed = new ArrayList<>();
        Watermark.@Nullable Floor reached = null;
        long took = 0;
        rows = results.next();
        while (rows.next()) {
            claimed.add(Claims.claimed(rows));
            reached = new Watermark.Floor(rows.getInt("rank"), Results.time(rows, "since"), true);
            took = rows.getLong("took");
            loners -= rows.getBoolean("alone") ? 1 : 0;
        }
        watermark.saw(request, floor, reached, claimed.size(), took);
        return new Answer(claimed, signalled, nextDue, loners > 0, inboxWaits, alive);
    }
}
