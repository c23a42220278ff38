package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The runs of a {@link BelievedBatch} that end, and whose ends concern no other run. */
final class OwnEnds {
    private final List<Placed<Change.Advance>> all = new ArrayList<>();

    void add(int index, Change.Advance advance) {
        all.add(new Placed<>(index, advance));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    long[] keys() {
        return Moves.keys(all);
    }

    Part part(OwnSql sql, Sending sending, Outcome[] outcomes) {
        all.sort(Comparator.comparingLong(end -> end.change().run().key()));
        List<Change.Advance> ends = Batch.changes(all);
        return BelievedBatch.timed(
                sql.end,
                parameters -> {
                    Moves.ENDS.bind(sending.fence(parameters), ends).longs(keys());
                    Moves.OUTCOMES.bind(parameters, ends);
                    parameters.integer(sending.worker()).longs(keys()).number(all.size());
                },
                at -> all.forEach(end -> outcomes[end.index()] = at == null
                        ? new Outcome.Fenced()
                        : new Outcome.Applied(at, ((Move.End) end.change().move()).state())));
    }
}
