package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Entries;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Control;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.WorkerId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One batch on its way: sent, answered, and read back where the answer was that something had been there before. */
final class BatchRun {
    private final Database database;
    private final LedgerSql sql;
    private final Sender sender;
    private final Batch batch;
    private final PostgresHints hints;
    private final ReadBack readBack;

    private final Entries stayEntries;
    private final Entries moveEntries;
    private final long[] startKeys;
    private final Outcome[] outcomes;

    BatchRun(Database database, LedgerSql sql, Sender sender, Batch batch, Keys keys, PostgresHints hints) {
        this.database = database;
        this.sql = sql;
        this.sender = sender;
        this.batch = batch;
        this.hints = hints;
        this.readBack = new ReadBack(database, sql);
        this.stayEntries = new Entries(Batch.changes(batch.stays));
        this.moveEntries = new Entries(Batch.changes(batch.moves));
        this.startKeys = batch.keysFor(keys.take(batch.starts.size()));
        this.outcomes = PostgresLedger.none(batch.size);
    }

    List<Outcome> outcomes() {
        Answers answers = database.call(this::send);
        answers.readBack(readBack);
        answers.signalled.forEach(worker -> hints.tell(new Hints.WorkerSignalled(worker)));
        return List.of(outcomes);
    }

    /** What the server said that asks for a second look. */
    private final class Answers {
        final List<Integer> entriesBefore = new ArrayList<>();
        final List<Placed<Change.Advance>> woken = new ArrayList<>();
        final List<Placed<Change.Advance>> lost = new ArrayList<>();
        final Map<Long, Found> found = new HashMap<>();
        final List<Placed<Change.Start>> taken = new ArrayList<>();
        final List<WorkerId> signalled = new ArrayList<>();

        void readBack(ReadBack readBack) {
            if (!entriesBefore.isEmpty()) {
                Map<Integer, Instant> before = readBack.times(stayEntries, entriesBefore);
                before.forEach((stay, at) ->
                        outcomes[batch.stays.get(stay).index()] = new Outcome.AlreadyThere(at, RunState.RUNNING));
            }
            for (Placed<Change.Advance> placed : lost) {
                Found row = found.get(placed.change().run().key());
                if (row != null && row.mayBe(placed.change()) && readBack.hasAll(placed.change())) {
                    outcomes[placed.index()] = new Outcome.AlreadyThere(row.changedAt(), row.state());
                }
            }
            for (Placed<Change.Advance> placed : woken) {
                if (outcomes[placed.index()] instanceof Outcome.Woken(Instant at, Control none)) {
                    outcomes[placed.index()] = new Outcome.Woken(
                            at, readBack.control(placed.change().run()));
                }
            }
            if (!taken.isEmpty()) {
                readBack.existing(taken, sender, outcomes);
            }
        }
    }

    /**
     * A run that was not held as the batch believed.
     *
     * @param state where it is
     * @param epoch its epoch
     * @param changedAt since when
     */
    record Found(RunState state, long epoch, Instant changedAt) {
        /** Whether this transition may be what brought it there. */
        boolean mayBe(Change.Advance advance) {
            return epoch == advance.epoch()
                    && switch (advance.move()) {
                        case Move.Stay() -> false;
                        case Move.Wait wait -> state == wait.state();
                        case Move.Yield() -> state == RunState.READY;
                        case Move.Recover recover -> false;
                        case Move.Pause pause -> state == RunState.PAUSED;
                        case Move.End end -> state == end.state();
                    };
        }
    }

    private Answers send(Connection connection) throws SQLException {
        boolean locks = !batch.moves.isEmpty() || !batch.commands.isEmpty();
        boolean plain = !locks && batch.starts.isEmpty();
        String shape = sql.shape(parts(plain, locks));
        try (PreparedStatement statement = Database.prepare(connection, shape)) {
            Parameters parameters = new Parameters(statement);
            Instant time = database.time();
            if (!plain) {
                parameters.text(LedgerSql.LOCK_TIMEOUT);
            }
            if (locks) {
                fence(parameters)
                        .longs(batch.moveKeys())
                        .texts(batch.commandIds())
                        .integer(sender.worker());
            }
            if (!batch.stays.isEmpty()) {
                bindStays(parameters, time);
            }
            if (!batch.moves.isEmpty()) {
                bindMoves(parameters.time(time));
            }
            if (!batch.starts.isEmpty()) {
                fence(parameters).time(time);
                batch.bindStarts(parameters, startKeys, sender.worker());
                parameters.integer(sender.worker()).number(startKeys.length);
            }
            if (!batch.commands.isEmpty()) {
                parameters.time(time);
                batch.bindCommands(parameters);
                fence(parameters.integer(sender.worker()));
            }
            statement.execute();
            return read(new Results(statement), plain, locks);
        }
    }

    private Set<Part> parts(boolean plain, boolean locks) {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        addIf(!plain, parts, Part.SETTINGS);
        addIf(locks, parts, Part.LOCK);
        addIf(!batch.stays.isEmpty(), parts, Part.APPEND);
        addIf(!batch.moves.isEmpty(), parts, batch.onlyEnds() ? Part.END : Part.MOVE);
        addIf(!batch.starts.isEmpty(), parts, Part.START);
        addIf(!batch.commands.isEmpty(), parts, Part.COMMAND);
        return parts;
    }

    private static void addIf(boolean wanted, Set<Part> parts, Part part) {
        if (wanted) {
            parts.add(part);
        }
    }

    private Parameters fence(Parameters parameters) throws SQLException {
        return parameters.integer(sender.worker()).integer(sender.lane());
    }

    private void bindMoves(Parameters parameters) throws SQLException {
        if (batch.onlyEnds()) {
            parameters.integer(sender.worker());
            batch.bindEnds(parameters);
        } else {
            batch.bindMoves(parameters, sender.worker());
        }
        fence(parameters.integer(sender.worker()));
        moveEntries.bind(parameters);
    }

    private void bindStays(Parameters parameters, @Nullable Instant time) throws SQLException {
        fence(parameters);
        stayEntries.bind(parameters);
        parameters.time(time).time(time);
        parameters.longs(stayEntries.keys).ints(stayEntries.positions).shorts(stayEntries.notes);
        parameters.number(stayEntries.keys.length);
    }

    private Answers read(Results results, boolean plain, boolean locks) throws SQLException {
        Answers answers = new Answers();
        if (!plain) {
            results.skip();
        }
        boolean fenced = false;
        if (locks) {
            ResultSet row = results.one();
            fenced = sender.worker() != null && row.getInt("lanes") == 0;
        }
        if (!batch.stays.isEmpty()) {
            readStays(results.one(), answers);
        }
        if (!batch.moves.isEmpty()) {
            readMoves(results.next(), fenced, answers);
        }
        if (!batch.starts.isEmpty()) {
            readStarts(results.one(), answers);
        }
        if (!batch.commands.isEmpty()) {
            readCommands(results.next(), fenced, answers);
        }
        return answers;
    }

    private void readStays(ResultSet row, Answers answers) throws SQLException {
        if (!row.getBoolean("lane")) {
            PostgresLedger.fence(batch.stays, outcomes);
            return;
        }
        Outcome applied = new Outcome.Applied(Results.time(row, "at"), RunState.RUNNING);
        batch.stays.forEach(stay -> outcomes[stay.index()] = applied);
        do {
            int ordinal = row.getInt("ordinal");
            if (ordinal > 0) {
                answers.entriesBefore.add(ordinal);
            }
        } while (row.next());
    }

    private void readMoves(ResultSet rows, boolean fenced, Answers answers) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.moves, outcomes);
            return;
        }
        Map<Long, Placed<Change.Advance>> byKey = new HashMap<>();
        batch.moves.forEach(move -> byKey.put(move.change().run().key(), move));
        while (rows.next()) {
            Placed<Change.Advance> move = byKey.get(rows.getLong("key"));
            if (move != null) {
                outcomes[move.index()] = moved(rows, move, answers);
            }
        }
    }

    private static Outcome moved(ResultSet row, Placed<Change.Advance> move, Answers answers) throws SQLException {
        if (!row.getBoolean("holds")) {
            answers.lost.add(move);
            answers.found.put(
                    move.change().run().key(),
                    new Found(Codes.state(row.getInt("state")), row.getLong("epoch"), Results.time(row, "changed_at")));
            return new Outcome.Fenced();
        }
        if (row.getBoolean("woken")) {
            answers.woken.add(move);
            return new Outcome.Woken(Results.time(row, "entered_at"), Control.NONE);
        }
        String at = move.change().move() instanceof Move.Wait ? "entered_at" : "moved_at";
        return new Outcome.Applied(Results.time(row, at), Codes.state(row.getInt("state_now")));
    }

    private void readStarts(ResultSet row, Answers answers) throws SQLException {
        if (sender.worker() != null && !row.getBoolean("lane")) {
            PostgresLedger.fence(batch.starts, outcomes);
            return;
        }
        Instant at = Results.time(row, "at");
        Set<Long> unused = new HashSet<>();
        do {
            unused.add(row.getLong("key"));
        } while (row.next());
        for (int i = 0; i < startKeys.length; i++) {
            Placed<Change.Start> start = batch.starts.get(i);
            if (!unused.contains(startKeys[i])) {
                RunRef run = new RunRef(start.change().run().id(), startKeys[i]);
                outcomes[start.index()] =
                        new Outcome.Started(run, start.change().owner() != null, at);
            } else {
                answers.taken.add(start);
            }
        }
    }

    private void readCommands(ResultSet rows, boolean fenced, Answers answers) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.commands, outcomes);
            return;
        }
        while (rows.next()) {
            Placed<Change.Command> command = batch.commands.get(rows.getInt("ordinal") - 1);
            outcomes[command.index()] =
                    new Outcome.Applied(Results.time(rows, "moved_at"), Codes.state(rows.getInt("state_now")));
            UUID worker = rows.getObject("signalled", UUID.class);
            if (worker != null) {
                answers.signalled.add(new WorkerId(worker));
            }
        }
    }
}
