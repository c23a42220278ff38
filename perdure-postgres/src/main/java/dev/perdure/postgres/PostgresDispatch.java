package dev.perdure.postgres;

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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hands out work: an idle poll is one round trip, and one that finds something is two. A poll that sees something in the
 * inbox does it, too: what becomes ready by that is found by the next.
 */
final class PostgresDispatch implements Dispatch {
    private static final String ANY_VERSION = "";

    private final Database database;
    private final LedgerSql ledgerSql;
    private final DispatchSql sql;
    private final Claims claims;
    private final Workers workers;
    private final InboxReader inbox;
    private final Watermark watermark = new Watermark();

    PostgresDispatch(Database database, Schema schema, Workers workers, InboxReader inbox) {
        this.database = database;
        this.ledgerSql = new LedgerSql(schema);
        this.sql = new DispatchSql(schema, ledgerSql);
        this.claims = new Claims(schema, database);
        this.workers = workers;
        this.inbox = inbox;
    }

    @Override
    public Polled poll(Poll request) {
        Integer worker = workers.number(request.worker());
        if (worker == null) {
            return new Polled(List.of(), List.of(), null, false);
        }
        Watermark.Floor floor = watermark.floor(request);
        Answer answer = database.call(connection -> poll(connection, request, worker, floor));
        if (!answer.alive()) {
            return new Polled(List.of(), List.of(), null, false);
        }
        if (answer.inboxWaits()) {
            inbox.read();
        }
        Map<Long, Claimed> details = details(answer, worker);
        return new Polled(
                answer.claimed().stream()
                        .map(details::get)
                        .filter(Objects::nonNull)
                        .toList(),
                answer.signalled().stream()
                        .map(details::get)
                        .filter(Objects::nonNull)
                        .map(run -> new Signalled(run.run(), run.epoch(), run.control()))
                        .toList(),
                answer.nextDue(),
                answer.aloneWaits());
    }

    /** What the poll itself says: which runs, by key. */
    private record Answer(
            List<Long> claimed,
            List<Long> signalled,
            @Nullable Instant nextDue,
            boolean aloneWaits,
            boolean inboxWaits,
            boolean alive) {}

    private Answer poll(Connection connection, Poll request, int worker, Watermark.Floor floor) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.poll)) {
            Parameters parameters = new Parameters(statement);
            parameters.text(LedgerSql.LOCK_TIMEOUT).time(database.time());
            parameters.integer(worker).time(database.time());
            suiting(parameters, request).bool(request.aloneToo() && request.limit() > 0);
            parameters
                    .integer(floor.rank())
                    .time(floor.since())
                    .integer(request.limit())
                    .integer(request.limit());
            parameters.integer(worker).integer(worker);
            parameters.integer(worker).integer(worker);
            suiting(parameters, request).integer(worker);
            statement.execute();
            return read(new Results(statement), request, floor);
        }
    }

    private static Parameters suiting(Parameters parameters, Poll request) throws SQLException {
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
        List<Long> claimed = new ArrayList<>();
        ResultSet rows = results.next();
        Watermark.@Nullable Floor reached = null;
        while (rows.next()) {
            claimed.add(rows.getLong("key"));
            reached = new Watermark.Floor(rows.getInt("rank"), Results.time(rows, "since"));
        }
        List<Long> signalled = new ArrayList<>();
        rows = results.next();
        while (rows.next()) {
            signalled.add(rows.getLong("key"));
        }
        rows = results.one();
        watermark.saw(request, floor, reached, claimed.size(), rows.getLong("took"));
        return new Answer(
                claimed,
                signalled,
                Results.timeOrNull(rows, "next_due"),
                rows.getBoolean("alone_waits"),
                rows.getBoolean("inbox_waits"),
                rows.getBoolean("alive"));
    }

    private Map<Long, Claimed> details(Answer answer, int worker) {
        long[] keys = Stream.concat(answer.claimed().stream(), answer.signalled().stream())
                .mapToLong(Long::longValue)
                .toArray();
        return claims.read(keys, worker);
    }
}
