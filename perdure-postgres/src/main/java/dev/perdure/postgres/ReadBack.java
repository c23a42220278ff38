package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Entries;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Control;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Second looks, after the commit, at what a batch found to be there already. */
final class ReadBack {
    private final Database database;
    private final LedgerSql sql;

    ReadBack(Database database, LedgerSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** The times of entries that were there before this transaction, by the advance they belong to. */
    Map<Integer, Instant> before(long transaction, Entries entries) {
        return database.call(connection -> {
            Map<Integer, Instant> times = new HashMap<>();
            try (PreparedStatement statement = Database.prepare(connection, sql.there)) {
                bind(statement, entries);
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        if (transaction != rows.getLong("transaction")) {
                            times.put(entries.owners[rows.getInt("ordinal") - 1], Results.time(rows, "at"));
                        }
                    }
                }
            }
            return times;
        });
    }

    /** What is asked of a run. */
    Control control(RunRef run) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.control)) {
                new Parameters(statement).number(run.key());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? Results.control(row) : Control.NONE;
                }
            }
        });
    }

    /** Whether everything that this transition appends, its outcome included, is there with the same bytes. */
    boolean hasAll(Change.Advance advance) {
        Entries entries = new Entries(List.of(advance));
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.there)) {
                bind(statement, entries);
                try (ResultSet rows = statement.executeQuery()) {
                    int found = 0;
                    while (rows.next()) {
                        boolean outcome = entries.positions[rows.getInt("ordinal") - 1] == Codes.OUTCOME;
                        found += !outcome || rows.getBoolean("same_payload") ? 1 : 0;
                    }
                    return found == entries.keys.length;
                }
            }
        });
    }

    private static void bind(PreparedStatement statement, Entries entries) throws SQLException {
        new Parameters(statement)
                .longs(entries.keys)
                .ints(entries.positions)
                .shorts(entries.notes)
                .bytes(entries.payloads);
    }

    /** Tells starts that met an existing run whether it was their own, sent before. */
    void existing(List<Placed<Change.Start>> starts, Sender sender, Outcome[] outcomes) {
        database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.existing)) {
                new Parameters(statement)
                        .texts(starts.stream()
                                .map(start -> start.change().run().id().value())
                                .toArray(String[]::new))
                        .bytes(starts.stream()
                                .map(start -> start.change().run().input().bytes())
                                .toArray(byte[][]::new));
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        Placed<Change.Start> start = starts.get(rows.getInt("ordinal") - 1);
                        outcomes[start.index()] = existing(rows, start.change(), sender);
                    }
                }
            }
            return null;
        });
    }

    private static Outcome existing(ResultSet row, Change.Start start, Sender sender) throws SQLException {
        RunRef run = new RunRef(start.run().id(), row.getLong("key"));
        if (row.getLong("seed") != start.run().seed()) {
            return new Outcome.Existing(run, row.getString("definition"), row.getBoolean("same_input"));
        }
        boolean owned = start.owner() != null
                && sender.worker() != null
                && Codes.state(row.getInt("state")) == RunState.RUNNING
                && row.getInt("owner") == sender.worker()
                && row.getLong("epoch") == Outcome.Started.FIRST_EPOCH;
        return new Outcome.Started(run, owned, Results.time(row, "created_at"));
    }
}
