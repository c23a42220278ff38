package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.BatchObjects;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.postgres.write.change.RunColumns;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Partitions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The calls of virtual objects in a batch with beliefs: calls that begin at objects that may be free, and calls that
 * end.
 */
public final class FreeCalls {
    static final Columns<Coming> COMING = Columns.<Coming>of()
            .bigint("key", one -> one.ref().key())
            .with(RunColumns.WITH_INPUT.in(Coming::run))
            .text("type", one -> one.object().type())
            .text("object", one -> one.object().key())
            .smallint("object_partition", one -> Partitions.of(one.object()));

    static final Columns<Change.Advance> LEAVING =
            Moves.ENDS.bytes("outcome", advance -> endOf(advance).outcome().bytes());

    private final List<Coming> coming = new ArrayList<>();
    private final List<Placed<Change.Advance>> leaving = new ArrayList<>();
    private final BatchObjects states = new BatchObjects();
    /** Their indexes in the batch, by key. After the answer has been read: only those that were skipped. */
    private final Map<Long, Integer> left = new HashMap<>();

    record Coming(int index, RunRef ref, NewRun run, ObjectKey object) {}

    public void begin(int index, NewRun run, Keys keys) {
        RunRef ref = new RunRef(run.id(), Keys.holdersKey(Keys.key(keys.take(), run)));
        coming.add(
                new Coming(index, ref, run, Objects.requireNonNull(run.object()).object()));
        left.put(ref.key(), index);
    }

    public void end(int index, Change.Advance advance) {
        leaving.add(new Placed<>(index, advance));
        left.put(advance.run().key(), index);
        for (Effect effect : advance.effects()) {
            states.change(advance, effect);
        }
    }

    public boolean isEmpty() {
        return coming.isEmpty() && leaving.isEmpty();
    }

    public boolean beginsAny() {
        return !coming.isEmpty();
    }

    public int size() {
        return coming.size() + leaving.size();
    }

    /** The indexes of the calls that were skipped, in their order. */
    public List<Integer> left() {
        return left.values().stream().sorted().toList();
    }

    public Part part(FreeCallSql sql, Sending sending, Outcome[] outcomes) {
        coming.sort(Comparator.comparing(one -> one.ref().id()));
        List<Change.Advance> ends = Batch.changes(leaving);
        return new Part(
                sql.turn,
                parameters -> {
                    COMING.bind(sending.fence(parameters), coming);
                    LEAVING.bind(parameters, ends);
                    states.bindValues(parameters.longs(Moves.keys(leaving)));
                },
                results -> read(results.next(), outcomes));
    }

    /** Adds the states of the objects to the calls that have begun. */
    public Part statesPart(ObjectSql sql, Outcome[] outcomes) {
        return new Part(
                sql.readAll,
                parameters -> BatchObjects.NAMES.bind(
                        parameters, coming.stream().map(Coming::object).toList()),
                results -> readStates(results.next(), outcomes));
    }

    private static Move.End endOf(Change.Advance advance) {
        return (Move.End) advance.move();
    }

    /** The outcomes of the calls that were applied; of all calls if the lane is gone. */
    private void read(ResultSet rows, Outcome[] outcomes) throws SQLException {
        Instant at = null;
        List<Long> done = new ArrayList<>();
        while (rows.next()) {
            at = Results.time(rows, "at");
            done.add(rows.getLong("key"));
        }
        if (at == null) {
            left.values().forEach(index -> outcomes[index] = new Outcome.Fenced());
            left.clear();
            return;
        }
        done.forEach(left::remove);
        for (Coming one : coming) {
            if (!left.containsKey(one.ref().key())) {
                outcomes[one.index()] = new Outcome.Started(one.ref(), true, at);
            }
        }
        for (Placed<Change.Advance> end : leaving) {
            if (!left.containsKey(end.change().run().key())) {
                outcomes[end.index()] =
                        new Outcome.Applied(at, endOf(end.change()).state());
            }
        }
    }

    private void readStates(ResultSet rows, Outcome[] outcomes) throws SQLException {
        List<SortedMap<String, Payload>> known = new ArrayList<>();
        coming.forEach(one -> known.add(new TreeMap<>()));
        while (rows.next()) {
            known.get(rows.getInt("ordinal") - 1).put(rows.getString("name"), new Payload(rows.getBytes("payload")));
        }
        for (int i = 0; i < known.size(); i++) {
            int index = coming.get(i).index();
            if (outcomes[index] instanceof Outcome.Started started) {
                outcomes[index] = started.knowing(known.get(i));
            }
        }
    }
}
