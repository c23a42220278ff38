package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.ObjectKey;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Payload;
import dev.perdure.spi.RunRef;
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
import org.jspecify.annotations.Nullable;

/** The calls of virtual objects in a {@link PlainBatch}: those that begin at objects that may be free, and those that end. */
final class FreeCalls {
    private final List<Coming> coming = new ArrayList<>();
    private final List<Placed<Change.Advance>> leaving = new ArrayList<>();
    private final BatchObjects states = new BatchObjects();
    /** Their places in the batch by their keys: all, and when it was read those that were not lucky. */
    private final Map<Long, Integer> unlucky = new HashMap<>();

    private record Coming(int index, RunRef ref, NewRun run, ObjectKey object) {}

    void begin(int index, NewRun run, Keys keys) {
        RunRef ref = new RunRef(run.id(), Keys.holdersKey(Keys.key(keys.take(), run.id(), false)));
        coming.add(
                new Coming(index, ref, run, Objects.requireNonNull(run.object()).object()));
        unlucky.put(ref.key(), index);
    }

    void end(int index, Change.Advance advance) {
        leaving.add(new Placed<>(index, advance));
        unlucky.put(advance.run().key(), index);
        for (Effect effect : advance.effects()) {
            states.change(advance, effect);
        }
    }

    boolean isEmpty() {
        return coming.isEmpty() && leaving.isEmpty();
    }

    boolean beginsAny() {
        return !coming.isEmpty();
    }

    int size() {
        return coming.size() + leaving.size();
    }

    /** The places of those that were left as they are, in their order. */
    List<Integer> unlucky() {
        return unlucky.values().stream().sorted().toList();
    }

    void bind(Parameters parameters) throws SQLException {
        coming.sort(Comparator.comparing(one -> one.ref().id()));
        NewRunColumns columns =
                new NewRunColumns(coming.stream().map(Coming::run).toList());
        columns.bindIdentity(parameters.longs(
                coming.stream().mapToLong(one -> one.ref().key()).toArray()));
        bindObjects(columns.bindInput(parameters));
        short[] partitions = new short[coming.size()];
        for (int i = 0; i < partitions.length; i++) {
            partitions[i] = (short) Keys.partition(coming.get(i).object());
        }
        bindEnds(parameters.shorts(partitions));
        states.bindValues(parameters);
    }

    private void bindObjects(Parameters parameters) throws SQLException {
        parameters
                .texts(coming.stream().map(one -> one.object().type()).toArray(String[]::new))
                .texts(coming.stream().map(one -> one.object().key()).toArray(String[]::new));
    }

    private void bindEnds(Parameters parameters) throws SQLException {
        int count = leaving.size();
        long[] keys = new long[count];
        long[] epochs = new long[count];
        short[] ended = new short[count];
        @Nullable String[] reasons = new String[count];
        byte[][] outcomes = new byte[count][];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = leaving.get(i).change();
            Move.End end = endOf(advance);
            keys[i] = advance.run().key();
            epochs[i] = advance.epoch();
            ended[i] = Codes.of(end.state());
            reasons[i] = Text.storableOrNull(end.reason());
            outcomes[i] = end.outcome().bytes();
        }
        parameters
                .longs(keys)
                .longs(epochs)
                .shorts(ended)
                .texts(reasons)
                .bytes(outcomes)
                .longs(keys);
    }

    private static Move.End endOf(Change.Advance advance) {
        return (Move.End) advance.move();
    }

    /** What came of those that were lucky; of all if the lane is gone. */
    void read(ResultSet rows, Outcome[] outcomes) throws SQLException {
        Instant at = null;
        List<Long> lucky = new ArrayList<>();
        while (rows.next()) {
            at = Results.time(rows, "at");
            lucky.add(rows.getLong("key"));
        }
        if (at == null) {
            unlucky.values().forEach(index -> outcomes[index] = new Outcome.Fenced());
            unlucky.clear();
            return;
        }
        lucky.forEach(unlucky::remove);
        for (Coming one : coming) {
            if (!unlucky.containsKey(one.ref().key())) {
                outcomes[one.index()] = new Outcome.Started(one.ref(), true, at);
            }
        }
        for (Placed<Change.Advance> end : leaving) {
            if (!unlucky.containsKey(end.change().run().key())) {
                outcomes[end.index()] =
                        new Outcome.Applied(at, endOf(end.change()).state());
            }
        }
    }

    /** Those whose objects are looked at when all is done. */
    void bindRead(Parameters parameters) throws SQLException {
        bindObjects(parameters);
    }

    /** Tells those that have begun what their objects know. */
    void readStates(ResultSet rows, Outcome[] outcomes) throws SQLException {
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
