package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.change.NewRuns;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The parts of a batch that lock, start, move and restart runs, with everything looked up. */
public final class RunParts {
    private final LedgerSql sql;
    private final Sending sending;
    private final Batch batch;
    private final Answers answers;
    private final Entries stayEntries;

    public RunParts(LedgerSql sql, Sending sending, Batch batch, Answers answers) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
        this.answers = answers;
        this.stayEntries = new Entries(Batch.changes(batch.stays));
    }

    /** The entries that the batch appends to runs that stay. */
    public Entries stayEntries() {
        return stayEntries;
    }

    public static Part settings(LedgerSql sql) {
        return new Part(sql.settings, parameters -> parameters.text(Database.LOCK_TIMEOUT));
    }

    /** Locks the runs that the batch moves. */
    public Part lock() {
        return new Part(
                sql.locks.lock,
                parameters -> sending.lane(parameters).longs(batch.lockedKeys()).integer(sending.worker()),
                this::readLock);
    }

    /** Locks the runs that the batch moves, and those that come after them. */
    public Part lockWithSuccessors() {
        return new Part(
                sql.locks.lockAfter,
                parameters -> sending.lane(parameters)
                        .longs(batch.lockedKeys())
                        .longs(batch.ends.openingKeys())
                        .integer(sending.worker()),
                this::readLock);
    }

    /** What transitions say about their runs. */
    public Part describe() {
        return new Part(sql.descriptions.describe, parameters -> {
            batch.described.bind(parameters);
            sending.lane(parameters).integer(sending.worker());
        });
    }

    /** Makes runs findable by their attributes. */
    public Part findable() {
        return new Part(sql.descriptions.index, parameters -> parameters.longs(batch.attributed()));
    }

    /** Locks everything that the batch touches. */
    public Part lockAll() {
        return new Part(
                sql.locks.lockAll,
                parameters -> {
                    sending.lane(parameters).longs(batch.lockedKeys()).texts(batch.lockedIds());
                    parameters.longs(batch.lastKeys()).texts(batch.endingIds()).texts(batch.lockedDags());
                    parameters
                            .longs(batch.ends.holdingKeys())
                            .texts(batch.endingIds())
                            .integer(sending.worker());
                },
                this::readLock);
    }

    private void readLock(Results results) throws SQLException {
        answers.fenced = results.one().getInt("lanes") == 0 && sending.worker() != null;
    }

    /**
     * Appends to the journals of runs that stay.
     *
     * @param careful whether entries may already exist: see {@link LedgerSql}
     */
    public Part append(boolean careful) {
        return new Part(
                careful ? sql.carefulAppend : sql.append,
                parameters -> stayEntries.bind(sending.fence(parameters)),
                results -> readStays(results.next()));
    }

    private void readStays(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            answers.fence(batch.stays);
            return;
        }
        Outcome applied = new Outcome.Applied(Results.time(rows, "at"), RunState.RUNNING);
        batch.stays.forEach(stay -> answers.outcomes[stay.index()] = applied);
        if (rows.getInt("entries") < stayEntries.size()) {
            answers.appendedAmongOthers = rows.getLong("transaction");
        }
    }

    public Part start() {
        return new Part(
                sql.start,
                parameters -> {
                    batch.births.bind(sending.lane(parameters).time(sending.time()), sending.worker());
                    parameters
                            .integer(sending.worker())
                            .integer(sending.worker())
                            .number(batch.births.all.size());
                },
                results -> readStarts(results.one()));
    }

    /** Inserts the time limits of the runs that have to begin in time. */
    public Part limit() {
        return new Part(sql.limit, parameters -> NewRuns.LIMITS.bind(parameters, batch.births.limited()));
    }

    private void readStarts(ResultSet row) throws SQLException {
        if (sending.worker() != null && !row.getBoolean("lane")) {
            batch.births.all.forEach(birth -> {
                if (birth.asked() != null) {
                    answers.outcomes[birth.asked().index()] = new Outcome.Fenced();
                }
            });
            return;
        }
        Instant at = Results.time(row, "at");
        Set<Long> unused = new HashSet<>();
        do {
            unused.add(row.getLong("key"));
        } while (row.next());
        for (RunToStart birth : batch.births.all) {
            Placed<Change.Start> start = birth.asked();
            boolean started = !unused.contains(birth.key());
            if (start == null && started) {
                answers.hints.add(new Hints.WorkReady());
            } else if (start != null && started) {
                answers.outcomes[start.index()] = new Outcome.Started(
                        new RunRef(birth.run().id(), birth.key()),
                        birth.owned(),
                        at,
                        batch.tasks.held(birth.key(), at));
            } else if (start != null) {
                answers.taken.add(start);
            }
        }
    }

    public Part move() {
        Entries entries = new Entries(Batch.changes(batch.moves));
        return new Part(
                sql.moves.move,
                parameters -> {
                    Moves.bind(batch.moves, parameters.time(sending.time()), sending.worker());
                    entries.bind(sending.laneOfWorker(parameters));
                },
                results -> readMoves(results.next()));
    }

    /** Moves by which every run ends. */
    public Part end(boolean careful) {
        Entries entries = new Entries(Batch.changes(batch.moves));
        return new Part(
                careful ? sql.moves.carefulEnd : sql.moves.end,
                parameters -> {
                    parameters.time(sending.time()).integer(sending.worker());
                    Moves.ENDS.bind(parameters, Batch.changes(batch.moves));
                    entries.bind(sending.laneOfWorker(parameters));
                },
                results -> readMoves(results.next()));
    }

    private void readMoves(ResultSet rows) throws SQLException {
        if (answers.fenced) {
            answers.fence(batch.moves);
            return;
        }
        Map<Long, Placed<Change.Advance>> byKey = byKey(batch.moves);
        while (rows.next()) {
            Placed<Change.Advance> move = byKey.get(rows.getLong("key"));
            if (move != null) {
                answers.outcomes[move.index()] = moved(rows, move);
            }
        }
    }

    private static Map<Long, Placed<Change.Advance>> byKey(Iterable<Placed<Change.Advance>> advances) {
        Map<Long, Placed<Change.Advance>> byKey = new HashMap<>();
        advances.forEach(advance -> byKey.put(advance.change().run().key(), advance));
        return byKey;
    }

    private Outcome moved(ResultSet row, Placed<Change.Advance> move) throws SQLException {
        if (!row.getBoolean("holds")) {
            answers.lost.add(move);
            answers.found.put(
                    move.change().run().key(),
                    new Answers.Found(
                            Codes.state(row.getInt("state")), row.getLong("epoch"), Results.time(row, "changed_at")));
            return new Outcome.Fenced();
        }
        if (row.getBoolean("woken")) {
            answers.woken.add(move);
            return new Outcome.Woken(Results.time(row, "entered_at"), Control.NONE);
        }
        String at = move.change().move() instanceof Move.Wait ? "entered_at" : "moved_at";
        return new Outcome.Applied(Results.time(row, at), Codes.state(row.getInt("state_now")));
    }

    public Part restart() {
        return new Part(
                sql.mail.restart,
                parameters -> {
                    parameters.time(sending.time()).integer(sending.worker());
                    Moves.RESTARTS.bind(parameters, Batch.changes(batch.restarts));
                    sending.lane(parameters);
                },
                results -> readRestarts(results.next()));
    }

    private void readRestarts(ResultSet rows) throws SQLException {
        answers.fence(batch.restarts);
        Map<Long, Placed<Change.Advance>> byKey = byKey(batch.restarts);
        while (!answers.fenced && rows.next()) {
            Placed<Change.Advance> restart = byKey.get(rows.getLong("key"));
            if (restart != null && rows.getBoolean("holds")) {
                answers.outcomes[restart.index()] = new Outcome.Applied(Results.time(rows, "moved_at"), RunState.READY);
            } else if (restart != null && rows.getBoolean("there_before")) {
                answers.outcomes[restart.index()] =
                        new Outcome.AlreadyThere(Results.time(rows, "changed_at"), Codes.state(rows.getInt("state")));
            }
        }
    }
}
