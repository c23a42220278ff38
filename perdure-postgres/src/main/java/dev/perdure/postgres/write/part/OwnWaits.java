package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** In a batch with beliefs, the runs that leave memory to wait. */
public final class OwnWaits {
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
        all.sort(Comparator.comparingLong(wait -> wait.change().run().key()));
        List<Moves.Row> rows =
                all.stream().map(wait -> Moves.Row.of(wait.change(), null)).toList();
        long[] keys = keys();
        return Part.timed(
                sql.wait,
                parameters -> {
                    Moves.WAITS.bind(sending.fence(parameters), rows).longs(keys);
                    new Entries(Batch.changes(all)).bind(parameters);
                    parameters.longs(keys).integer(sending.worker()).longs(keys).number(all.size());
                },
                at -> all.forEach(wait -> outcomes[wait.index()] = at == null
                        ? new Outcome.Fenced()
                        : new Outcome.Applied(at, ((Move.Wait) wait.change().move()).state())));
    }
}
