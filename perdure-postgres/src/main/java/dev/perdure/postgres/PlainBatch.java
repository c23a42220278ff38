package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A batch of nothing but {@link Plain} changes, and how it is sent by {@link OwnSql}. What {@link Batch} and {@link BatchRun} do
 * for others is left out: neither is anything looked up, nor is there anything to be told. Only calls of virtual objects may be left as
 * they are, by {@link FreeCallSql}; they are {@link #unlucky} then.
 */
final class PlainBatch {
    private final Sender sender;
    private final List<Placed<Change.Advance>> appends = new ArrayList<>();
    private final List<Born> births = new ArrayList<>();
    private final List<Placed<Change.Advance>> ends = new ArrayList<>();
    private final OwnWaits waits = new OwnWaits();
    private final FreeCalls calls = new FreeCalls();
    private final Outcome[] outcomes;

    private record Born(int index, NewRun run, long key) {}

    /** @param outcomes where outcomes go, by the places of the changes */
    PlainBatch(Sender sender, Outcome[] outcomes) {
        this.sender = sender;
        this.outcomes = outcomes;
    }

    void add(List<Placed<Change>> changes, Keys keys) {
        for (Placed<Change> placed : changes) {
            int index = placed.index();
            switch (placed.change()) {
                case Change.Start start when start.run().object() != null -> calls.begin(index, start.run(), keys);
                case Change.Start start ->
                    births.add(new Born(
                            index,
                            start.run(),
                            Keys.key(keys.take(), start.run().id(), false)));
                case Change.Advance advance when Plain.isEndOfCall(advance) -> calls.end(index, advance);
                case Change.Advance advance
                when advance.move() instanceof Move.End -> ends.add(new Placed<>(index, advance));
                case Change.Advance advance when Plain.isWait(advance) -> waits.add(index, advance);
                case Change.Advance advance -> appends.add(new Placed<>(index, advance));
                default -> throw new IllegalArgumentException("Not plain: " + placed.change());
            }
        }
        waits.sort();
        ends.sort(Comparator.comparingLong(end -> end.change().run().key()));
        births.sort(Comparator.comparing(birth -> birth.run().id()));
    }

    /** What has to be sent, in that order. */
    Set<Part> parts() {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        addIf(!appends.isEmpty(), parts, Part.APPEND);
        addIf(!births.isEmpty(), parts, Part.START_OWN);
        addIf(!waits.isEmpty() && !ends.isEmpty(), parts, Part.LOCK); // all in one pass, as in any batch
        addIf(!waits.isEmpty(), parts, Part.WAIT_OWN);
        addIf(!ends.isEmpty(), parts, Part.END_OWN);
        addIf(!calls.isEmpty(), parts, Part.FREE_CALLS);
        addIf(calls.beginsAny(), parts, Part.KNOWN_STATES);
        addIf(!parts.equals(Set.of(Part.APPEND)), parts, Part.SETTINGS);
        return parts;
    }

    private static void addIf(boolean wanted, Set<Part> parts, Part part) {
        if (wanted) {
            parts.add(part);
        }
    }

    /** These changes as such a batch, or null if they are none. */
    static @Nullable PlainBatch of(Sender sender, List<Change> changes, Keys keys) {
        List<Placed<Change>> all = new ArrayList<>(changes.size());
        for (Change change : changes) {
            boolean plain = switch (change) {
                case Change.Start start ->
                    start.owner() != null && (Plain.isStart(start) || Plain.isStartOfCall(start));
                case Change.Advance advance ->
                    Plain.isAppend(advance)
                            || Plain.isWait(advance)
                            || Plain.isEnd(advance)
                            || Plain.isEndOfCall(advance);
                default -> false;
            };
            if (!plain) {
                return null;
            }
            all.add(new Placed<>(all.size(), change));
        }
        PlainBatch batch = new PlainBatch(sender, PostgresLedger.none(changes.size()));
        batch.add(all, keys);
        return batch;
    }

    boolean startsAny() {
        return !births.isEmpty() || calls.beginsAny();
    }

    /** Whether any of them leaves memory to wait, which it must not if it is woken. */
    boolean waitsAny() {
        return !waits.isEmpty();
    }

    /** How many of them are calls of virtual objects, which may not be free. */
    int calls() {
        return calls.size();
    }

    /** The places of those that were left as they are, because their objects are not free. */
    List<Integer> unlucky() {
        return calls.unlucky();
    }

    List<Outcome> send(Connection connection, LedgerSql sql, @Nullable Instant time) throws SQLException {
        Set<Part> parts = parts();
        try (PreparedStatement statement = Database.prepare(connection, sql.shape(parts, false))) {
            Parameters parameters = new Parameters(statement);
            for (Part part : parts) {
                bind(part, parameters, time);
            }
            statement.execute();
            Results results = new Results(statement);
            for (Part part : parts) {
                read(part, results.next());
            }
        }
        return List.of(outcomes);
    }

    void bind(Part part, Parameters parameters, @Nullable Instant time) throws SQLException {
        if (part == Part.SETTINGS) {
            parameters.text(LedgerSql.LOCK_TIMEOUT);
            return;
        }
        if (part == Part.KNOWN_STATES) {
            calls.bindRead(parameters);
            return;
        }
        if (part == Part.LOCK) {
            parameters.integer(sender.worker()).integer(sender.lane());
            parameters.longs(movedKeys()).integer(sender.worker());
            return;
        }
        parameters.time(time).integer(sender.worker()).integer(sender.lane());
        switch (part) {
            case FREE_CALLS -> calls.bind(parameters);
            case START_OWN -> bindStarts(parameters);
            case WAIT_OWN -> waits.bind(parameters, sender.worker());
            case END_OWN -> bindEnds(parameters);
            default -> new Entries(Batch.changes(appends)).bind(parameters);
        }
    }

    private long[] movedKeys() {
        return LongStream.concat(Arrays.stream(Moves.keys(ends)), Arrays.stream(waits.keys()))
                .toArray();
    }

    private void bindStarts(Parameters parameters) throws SQLException {
        long[] keys = new long[births.size()];
        List<NewRun> runs = new ArrayList<>(keys.length);
        for (Born birth : births) {
            keys[runs.size()] = birth.key();
            runs.add(birth.run());
        }
        NewRunColumns columns = new NewRunColumns(runs);
        columns.bindInput(columns.bindIdentity(parameters.longs(keys)));
    }

    private void bindEnds(Parameters parameters) throws SQLException {
        int count = ends.size();
        long[] keys = new long[count];
        long[] epochs = new long[count];
        short[] states = new short[count];
        @Nullable String[] reasons = new String[count];
        byte[][] results = new byte[count][];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = ends.get(i).change();
            keys[i] = advance.run().key();
            epochs[i] = advance.epoch();
            Move.End end = endOf(advance);
            states[i] = Codes.of(end.state());
            reasons[i] = Text.storableOrNull(end.reason());
            results[i] = end.outcome().bytes();
        }
        parameters.longs(keys).longs(epochs).shorts(states).texts(reasons).longs(keys);
        parameters.longs(keys).bytes(results);
        parameters.integer(sender.worker()).longs(keys).number(count);
    }

    private static Move.End endOf(Change.Advance advance) {
        return (Move.End) advance.move();
    }

    void read(Part part, ResultSet rows) throws SQLException {
        switch (part) {
            case SETTINGS, LOCK -> {}
            case FREE_CALLS -> calls.read(rows, outcomes);
            case KNOWN_STATES -> calls.readStates(rows, outcomes);
            default -> readTime(part, rows);
        }
    }

    /** A row with the time at which it was done, or none if the lane is gone. */
    private void readTime(Part part, ResultSet row) throws SQLException {
        Instant at = row.next() ? Results.time(row, "at") : null;
        switch (part) {
            case START_OWN -> {
                for (Born birth : births) {
                    RunRef run = new RunRef(birth.run().id(), birth.key());
                    outcomes[birth.index()] = at == null ? new Outcome.Fenced() : new Outcome.Started(run, true, at);
                }
            }
            case WAIT_OWN -> waits.settle(at, outcomes);
            case END_OWN -> {
                for (Placed<Change.Advance> end : ends) {
                    outcomes[end.index()] = at == null
                            ? new Outcome.Fenced()
                            : new Outcome.Applied(at, endOf(end.change()).state());
                }
            }
            default -> {
                Outcome outcome = at == null ? new Outcome.Fenced() : new Outcome.Applied(at, RunState.RUNNING);
                appends.forEach(append -> outcomes[append.index()] = outcome);
            }
        }
    }
}
