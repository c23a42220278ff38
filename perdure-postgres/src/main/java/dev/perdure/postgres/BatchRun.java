package dev.perdure.postgres;

import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** One batch on its way: sent, answered, and read back where the answer was that something had been there before. */
final class BatchRun {
    private final Database database;
    private final LedgerSql sql;
    private final Sender sender;
    private final Batch batch;
    private final boolean careful;
    private final PostgresHints hints;
    private final ReadBack readBack;
    /** Whether mail goes to runs in memory. */
    private final Lately mailInMemory;

    private final Entries stayEntries;
    private final Outcome[] outcomes;
    private List<Long> waiting = List.of();
    private boolean foundTaken;

    /** What batches have in common. */
    record Office(Database database, LedgerSql sql, ReadBack readBack, PostgresHints hints, Lately mailInMemory) {}

    /** @param careful whether something in it may be there already: see {@link LedgerSql} */
    BatchRun(Office office, Sender sender, Batch batch, boolean careful) {
        this.database = office.database();
        this.sql = office.sql();
        this.sender = sender;
        this.batch = batch;
        this.careful = careful;
        this.hints = office.hints();
        this.readBack = office.readBack();
        this.mailInMemory = office.mailInMemory();
        this.stayEntries = new Entries(Batch.changes(batch.stays));
        this.outcomes = PostgresLedger.none(batch.size);
    }

    /** Whether an id that it was to start a run under is another's, or the run was there before. */
    boolean foundTaken() {
        return foundTaken;
    }

    List<Outcome> outcomes() {
        PostgresLedger.fence(batch.wholes, outcomes);
        Answers answers = database.call(this::send);
        answers.readBack(readBack, stayEntries);
        waiting = List.copyOf(answers.waiting);
        foundTaken = !answers.taken.isEmpty();
        answers.hints.forEach(hints::tell);
        answers.hintsHere.forEach(hints::tellHere);
        return List.of(outcomes);
    }

    /** Calls of virtual objects that wait for their turn since this batch, and that somebody waits for. */
    List<Long> waiting() {
        return waiting;
    }

    private Answers send(Connection connection) throws SQLException {
        Set<Part> parts = parts();
        try (PreparedStatement statement = Database.prepare(connection, sql.shape(parts, careful))) {
            Parameters parameters = new Parameters(statement);
            BatchBinding binding = new BatchBinding(sender, batch, database.time(), stayEntries);
            for (Part part : parts) {
                binding.bind(part, parameters);
            }
            statement.execute();
            return new AnswerReader(sender, batch, stayEntries, outcomes, mailInMemory)
                    .read(new Results(statement), parts);
        }
    }

    /** What the batch needs, in the order in which it is sent. */
    private Set<Part> parts() {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        boolean moves = !batch.moves.isEmpty() || !batch.restarts.isEmpty() || !batch.objects.arrivals.isEmpty();
        addIf(batch.objects.makes(), parts, Part.MAKE_OBJECTS);
        addIf(batch.touchesObjects(), parts, Part.LOCK_OBJECTS);
        addIf(batch.touchesOnlyWhatComesAfter(), parts, Part.LOCK_AFTER);
        addIf(batch.touchesOthers() && !batch.touchesOnlyWhatComesAfter(), parts, Part.LOCK_ALL);
        addIf(moves && !batch.touchesOthers(), parts, Part.LOCK);
        addIf(!batch.stays.isEmpty(), parts, Part.APPEND);
        addIf(batch.starts(), parts, Part.START);
        addIf(!batch.tasks.isEmpty(), parts, Part.TASK);
        addIf(batch.objects.enters(), parts, Part.ENTER);
        addIf(batch.objects.changesStates(), parts, Part.STATE);
        addIf(batch.ends.follows(), parts, Part.FOLLOW);
        addIf(batch.releases(), parts, Part.RELEASE);
        addIf(!batch.commands.isEmpty(), parts, Part.COMMAND);
        addIf(!batch.commands.kills().isEmpty(), parts, Part.KILL_TASKS);
        addIf(!batch.cancels.isEmpty(), parts, Part.CANCEL);
        addIf(!batch.ownEffects.isEmpty(), parts, Part.EFFECT);
        addIf(!batch.letters.isEmpty(), parts, Part.DELIVER);
        addIf(!batch.moves.isEmpty(), parts, batch.onlyEnds() ? Part.END : Part.MOVE);
        addIf(!batch.restarts.isEmpty(), parts, Part.RESTART);
        addIf(!batch.reruns.isEmpty(), parts, Part.RERUN);
        addIf(!batch.trains.isEmpty(), parts, Part.WHOLE);
        addIf(batch.trains.states.changesStates(), parts, Part.WHOLE_STATE);
        addIf(batch.answers(), parts, Part.ANSWER);
        addIf(batch.opens(), parts, batch.endingIds().length == 0 ? Part.OPEN : Part.OPEN_ALL);
        addIf(batch.ends.takingKeys().length > 0, parts, batch.releases() ? Part.HANDED : Part.HANDED_TASKS);
        addIf(batch.objects.mayHold() && batch.ends.takingKeys().length == 0, parts, Part.KNOWN_STATES);
        addIf(!parts.equals(EnumSet.of(Part.APPEND)), parts, Part.SETTINGS);
        return parts;
    }

    private static void addIf(boolean wanted, Set<Part> parts, Part part) {
        if (wanted) {
            parts.add(part);
        }
    }
}
