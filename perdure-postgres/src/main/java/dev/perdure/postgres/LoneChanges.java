package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Applies a change that is alone and {@link Plain}, by {@link LoneSql}. */
final class LoneChanges {
    private final Database database;
    private final LoneSql sql;
    private final Keys keys;

    LoneChanges(Database database, Schema schema, Keys keys) {
        this.database = database;
        this.sql = new LoneSql(schema);
        this.keys = keys;
    }

    /** What came of it; null if it is not plain, or things are not as its sender believes: then nothing was done. */
    @Nullable
    Outcome apply(Sender sender, Change change) {
        return switch (change) {
            case Change.Advance advance
            when Plain.isAppend(advance) && advance.entries().size() == 1 ->
                database.call(connection -> append(connection, sender, advance));
            case Change.Advance advance
            when Plain.isEnd(advance) && advance.move() instanceof Move.End end ->
                database.call(connection -> end(connection, sender, advance, end));
            case Change.Start start when Plain.isStart(start) -> start(sender, start);
            default -> null;
        };
    }

    private @Nullable Outcome append(Connection connection, Sender sender, Change.Advance advance) throws SQLException {
        Entry entry = advance.entries().getFirst();
        try (PreparedStatement statement = Database.prepare(connection, sql.append)) {
            Parameters parameters = new Parameters(statement).time(database.time());
            parameters.integer(sender.worker()).integer(sender.lane());
            parameters.number(advance.run().key()).number(entry.position()).number(entry.note());
            parameters.number(Codes.of(entry.kind())).number(Codes.of(entry.status()));
            parameters.text(entry.name()).bytes(entry.payload().bytes());
            Instant at = timeOf(statement.executeQuery());
            return at == null ? null : new Outcome.Applied(at, RunState.RUNNING);
        }
    }

    private @Nullable Outcome start(Sender sender, Change.Start start) {
        boolean owned = start.owner() != null;
        if (!owned && sender.worker() != null) {
            return null;
        }
        NewRun run = start.run();
        long key = Keys.key(keys.take(), run.id(), false);
        Instant at = database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, owned ? sql.start : sql.enqueue)) {
                Parameters parameters =
                        new Parameters(statement).time(database.time()).text(LedgerSql.LOCK_TIMEOUT);
                if (owned) {
                    parameters.integer(sender.worker()).integer(sender.lane());
                }
                bind(parameters, run, key);
                return timeOf(statement.executeQuery());
            }
        });
        return at == null ? null : new Outcome.Started(new RunRef(run.id(), key), owned, at);
    }

    private static void bind(Parameters parameters, NewRun run, long key) throws SQLException {
        parameters.number(key).number(run.seed()).numberOrNull(Micros.ofNullable(run.timeout()));
        parameters.number(run.priority()).text(run.id().value());
        parameters.text(run.definition()).text(run.queue()).text(run.version());
        parameters.bytes(run.input().bytes());
    }

    private @Nullable Outcome end(Connection connection, Sender sender, Change.Advance advance, Move.End end)
            throws SQLException {
        long key = advance.run().key();
        try (PreparedStatement statement = Database.prepare(connection, sql.settingsAndEnd)) {
            Parameters parameters = new Parameters(statement).text(LedgerSql.LOCK_TIMEOUT);
            parameters.number(Codes.of(end.state())).text(Text.storableOrNull(end.reason()));
            parameters.time(database.time()).integer(sender.worker()).integer(sender.lane());
            parameters.number(key).number(Keys.partition(key)).number(advance.epoch());
            parameters.bytes(end.outcome().bytes());
            parameters.integer(sender.worker()).number(key).number(Keys.partition(key));
            statement.execute();
            Results results = new Results(statement);
            results.skip();
            Instant at = timeOf(results.next());
            return at == null ? null : new Outcome.Applied(at, end.state());
        }
    }

    private static @Nullable Instant timeOf(ResultSet row) throws SQLException {
        return row.next() ? Results.time(row, "at") : null;
    }
}
