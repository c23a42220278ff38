package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.shard.Partitions;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The changes of a batch to virtual objects: which calls begin, which arrive, and how states change. */
public final class BatchObjects {
    /**
     * A call that takes its place at an object.
     *
     * @param object the object, or null if the row of the call has it
     * @param epoch the epoch of a call that arrives, or null if it begins
     */
    record Entering(
            long key,
            @Nullable ObjectKey object,
            Hold hold,
            @Nullable Long epoch) {}

    /** @param payload null to clear it */
    record Value(long key, String name, @Nullable Payload payload) {}

    public static final Columns<ObjectKey> NAMES =
            Columns.<ObjectKey>of().text("type", ObjectKey::type).text("key", ObjectKey::key);

    public static final Columns<ObjectKey> MADE = NAMES.smallint("partition", Partitions::of);

    public static final Columns<Entering> ENTERING = Columns.<Entering>of()
            .bigint("key", Entering::key)
            .text("type", call -> call.object() == null ? null : call.object().type())
            .text("object", call -> call.object() == null ? null : call.object().key())
            .smallint("hold", call -> Codes.of(call.hold()))
            .bigintOrNull("epoch", Entering::epoch);

    public static final Columns<StateChange> ACTING = Rights.<StateChange>columns(
                    "key", "epoch", change -> change.sender)
            .bool("clears_all", change -> change.clearsAll);

    public static final Columns<Value> VALUES = Columns.<Value>of()
            .bigint("key", Value::key)
            .text("name", Value::name)
            .bytes(
                    "payload",
                    value -> value.payload() == null ? null : value.payload().bytes());

    public final List<Placed<Change.Advance>> arrivals = new ArrayList<>();
    private final List<RunToStart> calls;
    private final Map<Long, StateChange> states = new LinkedHashMap<>();

    /** The changes of one transition to a state, with all its effects merged. */
    static final class StateChange {
        private final Change.Advance sender;
        private final Map<String, Optional<Payload>> values = new LinkedHashMap<>();
        private boolean clearsAll;

        StateChange(Change.Advance sender) {
            this.sender = sender;
        }
    }

    public BatchObjects() {
        this.calls = new ArrayList<>();
    }

    /** Keys are assigned in the order of arrival. */
    void born(List<RunToStart> births) {
        births.stream()
                .filter(birth -> birth.run().object() != null)
                .sorted(Comparator.comparingLong(birth -> Keys.number(birth.key())))
                .forEach(calls::add);
    }

    void set(Change.Advance sender, Effect.SetState set) {
        change(sender).values.put(set.name(), Optional.of(set.payload()));
    }

    void clear(Change.Advance sender, Effect.ClearState clear) {
        change(sender).values.put(clear.name(), Optional.empty());
    }

    void clearAll(Change.Advance sender) {
        StateChange change = change(sender);
        change.values.clear();
        change.clearsAll = true;
    }

    /** The changes of a call that has no other effects than those on the state. */
    public void change(Change.Advance sender, Effect effect) {
        switch (effect) {
            case Effect.SetState set -> set(sender, set);
            case Effect.ClearState clear -> clear(sender, clear);
            case Effect.ClearAllState() -> clearAll(sender);
            default -> throw new IllegalArgumentException("Not of the state: " + effect);
        }
    }

    private StateChange change(Change.Advance sender) {
        return states.computeIfAbsent(sender.run().key(), unseen -> new StateChange(sender));
    }

    private List<ObjectKey> claimed() {
        return calls.stream()
                .map(RunToStart::run)
                .filter(run -> hold(run.object()) == Hold.EXCLUSIVE)
                .map(run -> Objects.requireNonNull(run.object()).object())
                .distinct()
                .toList();
    }

    private static @Nullable Hold hold(@Nullable ObjectCall call) {
        return call == null ? null : call.hold();
    }

    /**
     * Whether objects are called that may not have a row yet. A call that arrives later creates the row when it is
     * sent.
     */
    public boolean makes() {
        return calls.stream().anyMatch(birth -> hold(birth.run().object()) != Hold.SHARED);
    }

    /** Whether this batch starts calls that the worker holds at once if their objects are free. */
    public boolean mayHold() {
        return calls.stream()
                .anyMatch(birth -> birth.owned() && hold(birth.run().object()) == Hold.EXCLUSIVE);
    }

    boolean claims() {
        return !claimed().isEmpty() || !arrivals.isEmpty();
    }

    public boolean enters() {
        return !calls.isEmpty() || !arrivals.isEmpty();
    }

    public boolean changesStates() {
        return !states.isEmpty();
    }

    long[] arrivingKeys() {
        return arrivals.stream()
                .mapToLong(placed -> placed.change().run().key())
                .toArray();
    }

    public void bindMade(Parameters parameters) throws SQLException {
        MADE.bind(
                parameters,
                calls.stream()
                        .map(RunToStart::run)
                        .filter(run -> hold(run.object()) != Hold.SHARED)
                        .map(run -> Objects.requireNonNull(run.object()).object())
                        .distinct()
                        .toList());
    }

    public void bindClaimed(Parameters parameters) throws SQLException {
        NAMES.bind(parameters, claimed());
    }

    /**
     * Adds the states of the objects to the starts of the calls that hold them since this batch: those of
     * {@link #bindClaimed}.
     */
    public void readStates(ResultSet rows, Outcome[] outcomes) throws SQLException {
        List<ObjectKey> objects = claimed();
        Map<ObjectKey, SortedMap<String, Payload>> known = new HashMap<>();
        while (rows.next()) {
            known.computeIfAbsent(objects.get(rows.getInt("ordinal") - 1), unseen -> new TreeMap<>())
                    .put(rows.getString("name"), new Payload(rows.getBytes("payload")));
        }
        for (RunToStart birth : calls) {
            Placed<Change.Start> asked = birth.asked();
            if (asked != null
                    && hold(birth.run().object()) == Hold.EXCLUSIVE
                    && outcomes[asked.index()] instanceof Outcome.Started started
                    && started.owned()) {
                ObjectKey object = Objects.requireNonNull(birth.run().object()).object();
                outcomes[asked.index()] = started.knowing(known.getOrDefault(object, new TreeMap<>()));
            }
        }
    }

    /** Calls that arrive come before calls that begin. */
    public void bindEntering(Parameters parameters) throws SQLException {
        List<Entering> entering = new ArrayList<>();
        arrivals.forEach(arrival -> entering.add(new Entering(
                arrival.change().run().key(),
                null,
                Hold.EXCLUSIVE,
                arrival.change().epoch())));
        calls.forEach(birth -> {
            ObjectCall call = Objects.requireNonNull(birth.run().object());
            entering.add(new Entering(birth.key(), call.object(), call.hold(), null));
        });
        ENTERING.bind(parameters, entering);
    }

    public void bindActing(Parameters parameters) throws SQLException {
        ACTING.bind(parameters, List.copyOf(states.values()));
    }

    public void bindValues(Parameters parameters) throws SQLException {
        List<Value> values = new ArrayList<>();
        states.forEach((key, change) ->
                change.values.forEach((name, payload) -> values.add(new Value(key, name, payload.orElse(null)))));
        VALUES.bind(parameters, values);
    }
}
