package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The runs of a {@link PlainBatch} that leave memory to wait, and how {@link OwnSql} lets them. */
final class OwnWaits {
    private final List<Placed<Change.Advance>> all = new ArrayList<>();

    void add(int index, Change.Advance advance) {
        all.add(new Placed<>(index, advance));
    }

    void sort() {
        all.sort(Comparator.comparingLong(wait -> wait.change().run().key()));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    long[] keys() {
        return Moves.keys(all);
    }

    void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        int count = all.size();
        long[] keys = keys();
        long[] epochs = new long[count];
        short[] states = new short[count];
        int[] seen = new int[count];
        WaitColumns columns = new WaitColumns(count);
        for (int i = 0; i < count; i++) {
            Move.Wait wait = waitOf(all.get(i).change());
            epochs[i] = all.get(i).change().epoch();
            states[i] = Codes.of(wait.state());
            seen[i] = wait.seenWakes();
            columns.set(i, wait);
        }
        columns.bindDue(parameters.longs(keys).longs(epochs).shorts(states).ints(seen));
        columns.bindAwaited(parameters).longs(keys);
        new Entries(Batch.changes(all)).bind(parameters);
        parameters.longs(keys).integer(worker).longs(keys).number(count);
    }

    /** @param at when it was done, or null if the lane is gone */
    void settle(@Nullable Instant at, Outcome[] outcomes) {
        for (Placed<Change.Advance> wait : all) {
            outcomes[wait.index()] = at == null
                    ? new Outcome.Fenced()
                    : new Outcome.Applied(at, waitOf(wait.change()).state());
        }
    }

    private static Move.Wait waitOf(Change.Advance advance) {
        return (Move.Wait) advance.move();
    }
}
