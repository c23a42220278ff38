package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The runs of a {@link BelievedBatch} that leave memory to wait. */
final class OwnWaits {
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
        all.sort(Comparator.comparingLong(wait -> wait.change().run().key()));
        List<Moves.Row> rows =
                all.stream().map(wait -> Moves.Row.of(wait.change(), null)).toList();
        long[] keys = keys();
        return BelievedBatch.timed(
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
