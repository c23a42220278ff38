package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.Family.Member;
import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A batch of starts of runs with tasks, of ends of tasks whose {@link Family} is known, and of {@link Plain} changes, and how it is
 * sent by {@link FamilySql} and {@link OwnSql}.
 */
final class FamilyBatch {
    private final Sender sender;
    private final FamilyStarts starts = new FamilyStarts();
    private final FamilyEnds ends = new FamilyEnds();
    private final PlainBatch plain;
    private final List<Placed<Change>> others = new ArrayList<>();
    private final Outcome[] outcomes;

    private FamilyBatch(Sender sender, int size) {
        this.sender = sender;
        this.outcomes = PostgresLedger.none(size);
        this.plain = new PlainBatch(sender, outcomes);
    }

    /**
     * These changes as such a batch, or null if they are none.
     *
     * @param skills what the worker of the batch can run
     */
    static @Nullable FamilyBatch of(
            Sender sender, List<Change> changes, Keys keys, Families families, Predicate<NewRun> skills) {
        FamilyBatch batch = new FamilyBatch(sender, changes.size());
        for (int i = 0; i < changes.size(); i++) {
            if (!batch.take(i, changes.get(i), families)) {
                return null;
            }
        }
        batch.ends.close(skills);
        batch.starts.giveKeys(keys);
        batch.plain.add(batch.others, keys);
        return batch;
    }

    /** Takes a change if it fits. Whether its family is known is asked once: it may be forgotten at any time. */
    private boolean take(int index, Change change, Families families) {
        switch (change) {
            case Change.Start start when FamilyStarts.isOne(start) -> starts.add(index, start);
            case Change.Start start
            when start.owner() != null && Plain.isStart(start) -> others.add(new Placed<>(index, start));
            case Change.Advance advance when Plain.isAppend(advance) -> others.add(new Placed<>(index, advance));
            case Change.Advance advance
            when Plain.isEnd(advance) && advance.move() instanceof Move.End end -> ends.add(index, advance, end, null);
            case Change.Advance advance
            when Plain.onlyEnds(advance) && advance.move() instanceof Move.End end -> {
                Member task = families.find(advance.run().key());
                if (task == null) {
                    return false;
                }
                ends.add(index, advance, end, task);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    boolean startsAny() {
        return !starts.isEmpty() || plain.startsAny();
    }

    /** Whether something is ready now that any worker can claim. */
    boolean queued() {
        return ends.queued();
    }

    private Set<Part> parts() {
        Set<Part> parts = EnumSet.of(Part.SETTINGS);
        parts.addAll(plain.parts());
        if (!starts.isEmpty()) {
            parts.add(Part.START_FAMILY);
        }
        if (!ends.isEmpty()) {
            parts.add(ends.mayQueue() ? Part.END_FAMILY_AND_QUEUE : Part.END_FAMILY);
        }
        return parts;
    }

    /** Sends it; what came of it {@link #outcomes} tells. */
    FamilyBatch send(Connection connection, LedgerSql sql, @Nullable Instant time) throws SQLException {
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
        return this;
    }

    private void bind(Part part, Parameters parameters, @Nullable Instant time) throws SQLException {
        switch (part) {
            case START_FAMILY -> starts.bind(fence(parameters, time));
            case END_FAMILY, END_FAMILY_AND_QUEUE -> ends.bind(fence(parameters, time), sender);
            default -> plain.bind(part, parameters, time);
        }
    }

    private Parameters fence(Parameters parameters, @Nullable Instant time) throws SQLException {
        return parameters.time(time).integer(sender.worker()).integer(sender.lane());
    }

    private void read(Part part, ResultSet rows) throws SQLException {
        switch (part) {
            case START_FAMILY -> starts.read(rows);
            case END_FAMILY, END_FAMILY_AND_QUEUE -> ends.read(rows);
            default -> plain.read(part, rows);
        }
    }

    /** @param lookUp gives what is not known here of runs that the worker holds now */
    List<Outcome> outcomes(Families families, Function<long[], Map<Long, Claimed>> lookUp) {
        starts.started(outcomes, families);
        ends.ended(outcomes, lookUp);
        return List.of(outcomes);
    }
}
