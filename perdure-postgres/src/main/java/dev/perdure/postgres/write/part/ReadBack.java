package dev.perdure.postgres.write.part;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.NewTasks;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads back, after the commit, rows that a batch found to exist. */
public final class ReadBack {
    private final Database database;
    private final LedgerSql sql;

    public ReadBack(Database database, LedgerSql sql) {
        this.database = database;
        this.sql = sql;
    }

    /** The times of entries that existed before this transaction, by the transition that they belong to. */
    Map<Integer, Instant> before(long transaction, Entries entries) {
        return database.call(connection -> {
            Map<Integer, Instant> times = new HashMap<>();
            try (PreparedStatement statement = Database.prepare(connection, sql.there)) {
                bind(statement, entries);
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        if (transaction != rows.getLong("transaction")) {
                            Entries.Row entry = entries.rows.get(rows.getInt("ordinal") - 1);
                            times.put(entry.owner(), Results.time(rows, "at"));
                        }
                    }
                }
            }
            return times;
        });
    }

    /** The requests for a run. */
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

    /** Whether everything that this transition appends, including its outcome, exists with the same bytes. */
    boolean hasAll(Change.Advance advance) {
        Entries entries = new Entries(List.of(advance));
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.there)) {
                bind(statement, entries);
                try (ResultSet rows = statement.executeQuery()) {
                    int found = 0;
                    while (rows.next()) {
                        Entries.Row entry = entries.rows.get(rows.getInt("ordinal") - 1);
                        boolean outcome = entry.position() == Codes.OUTCOME;
                        found += !outcome || rows.getBoolean("same_payload") ? 1 : 0;
                    }
                    return found == entries.size();
                }
            }
        });
    }

    private static void bind(PreparedStatement statement, Entries entries) throws SQLException {
        Entries.PLACES.bind(new Parameters(statement), entries.rows);
    }

    /** The first of these whose id another run has, or null. */
    @Nullable
    public RunId taken(List<Task> tasks) {
        List<NewRun> runs = tasks.stream().map(Task::run).toList();
        return existing(runs).keySet().stream()
                .findFirst()
                .map(place -> runs.get(place).id())
                .orElse(null);
    }

    /** Sets the outcomes of starts that met an existing run: whether it is their own, from an earlier send. */
    void existing(List<Placed<Change.Start>> starts, Sender sender, Outcome[] outcomes) {
        List<NewRun> runs = starts.stream().map(start -> start.change().run()).toList();
        existing(runs).forEach((place, found) -> {
            Placed<Change.Start> start = starts.get(place);
            outcomes[start.index()] = outcome(found, start.change(), sender);
        });
    }

    /** Sets the outcomes of calls that were not applied: whether they were applied before. */
    void completedCalls(List<Placed<Change.CompletedCall>> completedCalls, Outcome[] outcomes) {
        List<NewRun> runs = completedCalls.stream()
                .map(completed -> completed.change().run())
                .toList();
        existing(runs).forEach((place, found) -> {
            Change.CompletedCall completed = completedCalls.get(place).change();
            if (found.seed() == completed.run().seed()
                    && found.state() == completed.end().state()) {
                outcomes[completedCalls.get(place).index()] =
                        new Outcome.AlreadyThere(found.createdAt(), found.state());
            }
        });
    }

    private Outcome outcome(Existing found, Change.Start start, Sender sender) {
        if (found.seed() != start.run().seed()) {
            return new Outcome.Existing(found.run(), found.definition(), found.sameInput());
        }
        boolean owned = start.owner() != null && found.isHeldFromBirth(sender);
        return new Outcome.Started(found.run(), owned, found.createdAt(), heldFromBirth(start, sender));
    }

    private List<Claimed> heldFromBirth(Change.Start start, Sender sender) {
        List<NewRun> roots = start.tasks().stream()
                .filter(task -> task.after().isEmpty())
                .map(Task::run)
                .toList();
        if (start.owner() == null || roots.isEmpty()) {
            return List.of();
        }
        List<Claimed> held = new ArrayList<>();
        existing(roots).forEach((place, found) -> {
            if (found.isHeldFromBirth(sender)) {
                held.add(NewTasks.born(found.run(), roots.get(place), start.run(), found.createdAt()));
            }
        });
        return held;
    }

    /** A run that existed before a start. */
    private record Existing(
            RunRef run,
            String definition,
            long seed,
            boolean sameInput,
            Instant createdAt,
            RunState state,
            int owner,
            long epoch) {
        boolean isHeldFromBirth(Sender sender) {
            return sender.worker() != null
                    && state == RunState.RUNNING
                    && owner == sender.worker()
                    && epoch == Outcome.Started.FIRST_EPOCH;
        }
    }

    /** The runs that have the ids of these starts, by their indexes. */
    private SortedMap<Integer, Existing> existing(List<NewRun> runs) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.existing)) {
                new Parameters(statement)
                        .texts(runs.stream().map(run -> run.id().value()).toArray(String[]::new))
                        .bytes(runs.stream().map(run -> run.input().bytes()).toArray(byte[][]::new));
                try (ResultSet rows = statement.executeQuery()) {
                    SortedMap<Integer, Existing> there = new TreeMap<>();
                    while (rows.next()) {
                        int place = rows.getInt("ordinal") - 1;
                        there.put(place, existing(rows, runs.get(place).id()));
                    }
                    return there;
                }
            }
        });
    }

    private static Existing existing(ResultSet row, RunId id) throws SQLException {
        return new Existing(
                new RunRef(id, row.getLong("key")),
                row.getString("definition"),
                row.getLong("seed"),
                row.getBoolean("same_input"),
                Results.time(row, "created_at"),
                Codes.state(row.getInt("state")),
                row.getInt("owner"),
                row.getLong("epoch"));
    }
}
