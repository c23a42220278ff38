package dev.perdure.postgres.write.part;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.BatchObjects;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.LocalCalls;
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
import org.jspecify.annotations.Nullable;

/**
 * The calls of virtual objects in a batch with beliefs: calls that begin at objects that may be free, and calls that
 * end.
 */
public final class FreeCalls {
    static final Columns<Coming> COMING = coming(RunColumns.WITH_INPUT);
    static final Columns<Coming> COMING_PLAIN = coming(RunColumns.PLAIN_WITH_INPUT);

    static final Columns<Leaving> LEAVING = Moves.ENDS
            .bytes("outcome", advance -> endOf(advance).outcome().bytes())
            .in(Leaving::advance);

    static final Columns<Leaving> LEAVING_KNOWN = LEAVING.text(
                    "type", one -> one.held().object().type())
            .text("object", one -> one.held().object().key())
            .smallint("object_partition", one -> Partitions.of(one.held().object()))
            .bigint("arrivals", one -> one.held().arrivals());

    private final LocalCalls localCalls;
    private final List<Coming> coming = new ArrayList<>();
    private final List<Leaving> leaving = new ArrayList<>();
    private final BatchObjects states = new BatchObjects();
    /** Their indexes in the batch, by key. After the answer has been read: only those that were skipped. */
    private final Map<Long, Integer> left = new HashMap<>();

    record Coming(int index, RunRef ref, NewRun run, ObjectKey object) {}

    /** @param known the object that the call holds, if that is known */
    record Leaving(int index, Change.Advance advance, LocalCalls.@Nullable Held known) {
        LocalCalls.Held held() {
            return Objects.requireNonNull(known);
        }
    }

    public FreeCalls(LocalCalls localCalls) {
        this.localCalls = localCalls;
    }

    private static Columns<Coming> coming(Columns<NewRun> ofRun) {
        return Columns.<Coming>of()
                .bigint("key", one -> one.ref().key())
                .with(ofRun.in(Coming::run))
                .text("type", one -> one.object().type())
                .text("object", one -> one.object().key())
                .smallint("object_partition", one -> Partitions.of(one.object()));
    }

    public void begin(int index, NewRun run, Keys keys) {
        RunRef ref = new RunRef(run.id(), Keys.holdersKey(Keys.key(keys.take(), run)));
        coming.add(
                new Coming(index, ref, run, Objects.requireNonNull(run.object()).object()));
        left.put(ref.key(), index);
    }

    public void end(int index, Change.Advance advance) {
        leaving.add(new Leaving(index, advance, localCalls.find(advance.run().key())));
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
        boolean known = coming.stream().allMatch(one -> RunColumns.isPlain(one.run()))
                && leaving.stream().allMatch(one -> one.known() != null);
        return new Part(
                known ? sql.turnKnown : sql.turn,
                parameters -> {
                    (known ? COMING_PLAIN : COMING).bind(sending.fence(parameters), coming);
                    (known ? LEAVING_KNOWN : LEAVING).bind(parameters, leaving);
                    states.bindValues(parameters.longs(leaving.stream()
                            .mapToLong(one -> one.advance().run().key())
                            .toArray()));
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
        Map<Long, Long> arrivals = new HashMap<>();
        while (rows.next()) {
            at = at == null ? Results.time(rows, "at") : at;
            arrivals.put(rows.getLong("key"), rows.getLong("arrivals"));
        }
        if (at == null) {
            left.values().forEach(index -> outcomes[index] = new Outcome.Fenced());
            left.clear();
            return;
        }
        arrivals.keySet().forEach(left::remove);
        for (Coming one : coming) {
            Long counted = arrivals.get(one.ref().key());
            if (counted != null) {
                outcomes[one.index()] = new Outcome.Started(one.ref(), true, at);
                localCalls.took(one.ref().key(), one.object(), counted);
            }
        }
        for (Leaving end : leaving) {
            if (!left.containsKey(end.advance().run().key())) {
                outcomes[end.index()] =
                        new Outcome.Applied(at, endOf(end.advance()).state());
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
