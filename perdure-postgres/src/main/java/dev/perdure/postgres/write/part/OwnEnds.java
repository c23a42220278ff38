package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** In a batch with beliefs, the runs that end and whose ends concern no other run. */
public final class OwnEnds {
    private final List<Placed<Change.Advance>> all = new ArrayList<>();

    public void add(int index, Change.Advance advance) {
        all.add(new Placed<>(index, advance));
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    public long[] keys() {
        return Moves.keys(all);
    }

    public Part part(OwnSql sql, Sending sending, Outcome[] outcomes) {
        all.sort(Comparator.comparingLong(end -> end.change().run().key()));
        List<Change.Advance> ends = Batch.changes(all);
        return Part.timed(
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
