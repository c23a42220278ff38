package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.States;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Virtual objects: which run holds them, which runs wait for them, and their states. */
final class MemoryObjects implements States {
    private final Tables tables;
    private final Map<ObjectKey, Thing> things = new HashMap<>();

    private static final class Thing {
        private @Nullable Row holder;
        private final SequencedSet<Row> waiting = new LinkedHashSet<>();
        private final SortedMap<String, Payload> state = new TreeMap<>();
        /** Whether it was ever called exclusively. */
        private boolean called;
        /** How many calls have ever had to wait. */
        private long arrivals;
    }

    MemoryObjects(Tables tables) {
        this.tables = tables;
    }

    /** All values of all objects. */
    Stream<Payload> values() {
        return things.values().stream().flatMap(thing -> thing.state.values().stream());
    }

    /** Shows the object and the name of each value. */
    void forEachName(BiConsumer<ObjectKey, String> consumer) {
        things.forEach((object, thing) -> thing.state.keySet().forEach(name -> consumer.accept(object, name)));
    }

    Payload value(ObjectKey object, String name) {
        return Objects.requireNonNull(
                Objects.requireNonNull(things.get(object)).state.get(name));
    }

    void replace(ObjectKey object, String name, Payload payload) {
        Objects.requireNonNull(things.get(object)).state.put(name, payload);
    }

    private Thing thing(ObjectCall call) {
        return things.computeIfAbsent(call.object(), unseen -> new Thing());
    }

    /** Whether this run has to wait for its turn. */
    boolean mustWait(Row row) {
        ObjectCall call = row.start.object();
        return call != null && call.hold() == Hold.EXCLUSIVE && thing(call).holder != row;
    }

    /** The run that holds the object for which this one waits; null if it waits for none. */
    @Nullable
    Row holderBefore(Row row) {
        ObjectCall call = row.start.object();
        Thing thing = call == null ? null : things.get(call.object());
        return thing != null && thing.waiting.contains(row) ? thing.holder : null;
    }

    /** Whether this run holds an object for which others wait. */
    boolean isAwaited(Row row) {
        ObjectCall call = row.start.object();
        Thing thing = call == null ? null : things.get(call.object());
        return thing != null && thing.holder == row && !thing.waiting.isEmpty();
    }

    /**
     * Whether no runs hold the object or wait for it, except these.
     *
     * @param handed the runs among these that may hold it: they were handed over just now and have not begun
     */
    boolean isFreeBut(ObjectKey object, Set<Row> handed, Set<RunId> given) {
        Thing thing = things.get(object);
        if (thing == null) {
            return true;
        }
        Row holder = thing.holder;
        boolean free = holder == null
                || (given.contains(holder.ref.id()) && (handed.contains(holder) || holder.state == RunState.READY));
        return free && thing.waiting.stream().allMatch(row -> given.contains(row.ref.id()));
    }

    /** A call that was just started takes its place, unless it arrives later. */
    void begin(Row row) {
        ObjectCall call = row.start.object();
        if (call != null && call.hold() == Hold.EXCLUSIVE) {
            arrive(row);
        }
    }

    /** Gives a call its place: the object itself, or a place behind all calls that arrived before. */
    void arrive(Row row) {
        ObjectCall call = row.start.object();
        if (call == null || call.hold() == Hold.SHARED) {
            return;
        }
        row.start = row.start.on(call.arrived());
        Thing thing = thing(call);
        thing.called = true;
        if (thing.holder == null) {
            thing.holder = row;
        } else if (thing.holder != row && thing.waiting.add(row)) {
            row.turn = ++thing.arrivals;
        }
    }

    /** A run is about to end: its worker takes over the call that is next, if it asked for it and can run it. */
    List<Row> take(Row ending, int takes) {
        ObjectCall call = ending.start.object();
        Tables.Worker worker = tables.workers.get(ending.owner);
        Thing thing = call == null ? null : thing(call);
        if (thing == null || worker == null || takes < 1 || thing.holder != ending || thing.waiting.isEmpty()) {
            return List.of();
        }
        Row next = thing.waiting.getFirst();
        if (!suits(worker, next, ending)) {
            return List.of();
        }
        thing.waiting.removeFirst();
        thing.holder = next;
        tables.take(next, worker.joining.id());
        return List.of(next);
    }

    private boolean suits(Tables.Worker worker, Row next, Row ending) {
        return next.state == RunState.PENDING
                && next.start.queue().equals(ending.start.queue())
                && !tables.queues.isLimited(next)
                && worker.takesOver(next);
    }

    /** The calls behind a call that was just taken over, as far as its worker could run them one after another. */
    List<Claimed> behind(List<Row> taken, int limit) {
        Row holder = taken.isEmpty() ? null : taken.getLast();
        ObjectCall call = holder == null ? null : holder.start.object();
        Tables.Worker worker = holder == null ? null : tables.workers.get(holder.owner);
        if (holder == null || call == null || worker == null || thing(call).holder != holder) {
            return List.of();
        }
        return thing(call).waiting.stream()
                .limit(limit)
                .takeWhile(row -> suits(worker, row, holder))
                .map(Row::claimedNext)
                .toList();
    }

    /** A run has ended: the next call gets its object. */
    void ended(Row row) {
        ObjectCall call = row.start.object();
        if (call == null) {
            return;
        }
        Thing thing = thing(call);
        thing.waiting.remove(row);
        if (thing.holder == row) {
            Row next = thing.waiting.isEmpty() ? null : thing.waiting.removeFirst();
            thing.holder = next;
            if (next != null && next.state == RunState.PENDING) {
                tables.change(next, RunState.READY, null);
            }
        }
    }

    /** A call that has ended is removed: its object too, if it is free and has no state. */
    void removed(Row row) {
        ObjectCall call = row.start.object();
        if (call != null) {
            things.computeIfPresent(
                    call.object(),
                    (same, thing) ->
                            thing.holder == null && thing.waiting.isEmpty() && thing.state.isEmpty() ? null : thing);
        }
    }

    /** The run that has to end before this pending run has its turn. */
    Optional<Row> holder(Row row) {
        ObjectCall call = row.start.object();
        return call == null ? Optional.empty() : Optional.ofNullable(thing(call).holder);
    }

    /** The state of the object that the run holds; null if it holds none. */
    @Nullable
    SortedMap<String, Payload> known(Row row) {
        ObjectCall call = row.start.object();
        return call == null || thing(call).holder != row ? null : new TreeMap<>(thing(call).state);
    }

    void write(Row row, Effect.SetState set) {
        state(row).put(set.name(), set.payload());
    }

    void clear(Row row, Effect.ClearState clear) {
        state(row).remove(clear.name());
    }

    void clearAll(Row row) {
        state(row).clear();
    }

    private SortedMap<String, Payload> state(Row row) {
        ObjectCall call = row.start.object();
        if (call == null) {
            throw new IllegalStateException("Run " + row.ref.id() + " holds no object.");
        }
        return thing(call).state;
    }

    // ---- questions

    /** The run that holds an object. */
    Optional<Row> holder(ObjectKey object) {
        return Optional.ofNullable(things.get(object)).flatMap(thing -> Optional.ofNullable(thing.holder));
    }

    /** The calls that wait for an object, in the order of their turns. */
    List<Row> waiting(ObjectKey object) {
        Thing thing = things.get(object);
        return thing == null ? List.of() : List.copyOf(thing.waiting);
    }

    @Override
    public List<String> types(String after, int limit) {
        return tables.inTransaction(() -> things.entrySet().stream()
                .filter(each -> each.getValue().called)
                .map(each -> each.getKey().type())
                .filter(type -> Utf8Order.COMPARATOR.compare(type, after) > 0)
                .distinct()
                .sorted(Utf8Order.COMPARATOR)
                .limit(limit)
                .toList());
    }

    @Override
    public List<Listed> list(Page page) {
        return tables.inTransaction(() -> things.entrySet().stream()
                .filter(each -> each.getValue().called && isOn(page, each.getKey()))
                .sorted(Map.Entry.comparingByKey(Comparator.comparing(ObjectKey::key, Utf8Order.COMPARATOR)))
                .limit(page.limit())
                .map(each -> listed(each.getKey(), each.getValue()))
                .toList());
    }

    private static boolean isOn(Page page, ObjectKey object) {
        return object.type().equals(page.type())
                && object.key().startsWith(page.prefix())
                && Utf8Order.COMPARATOR.compare(object.key(), page.after()) > 0;
    }

    private static Listed listed(ObjectKey object, Thing thing) {
        return new Listed(
                object.key(),
                Optional.ofNullable(thing.holder).map(row -> row.ref.id()),
                Math.min(thing.waiting.size(), MOST_COUNTED));
    }

    @Override
    public Values read(ObjectKey object, String after, int limit, int maxBytes) {
        return tables.inTransaction(() -> {
            SortedMap<String, Payload> following = new TreeMap<>(Utf8Order.COMPARATOR);
            Optional.ofNullable(things.get(object)).ifPresent(thing -> following.putAll(thing.state));
            following.keySet().removeIf(name -> Utf8Order.COMPARATOR.compare(name, after) <= 0);
            FittingPage<Map.Entry<String, Payload>> page =
                    FittingPage.of(following.entrySet(), each -> each.getValue().size(), limit, maxBytes);
            SequencedMap<String, Payload> values = new LinkedHashMap<>();
            page.values().forEach(each -> values.put(each.getKey(), each.getValue()));
            return new Values(values, page.last());
        });
    }

    @Override
    public Optional<Payload> read(ObjectKey object, String name) {
        return Optional.ofNullable(readAll(object).get(name));
    }

    @Override
    public Map<ObjectKey, SortedMap<String, Payload>> readAll(Collection<ObjectKey> objects) {
        return tables.inTransaction(() -> {
            Map<ObjectKey, SortedMap<String, Payload>> states = new HashMap<>();
            for (ObjectKey object : objects) {
                Thing thing = things.get(object);
                states.put(object, thing == null ? new TreeMap<>() : new TreeMap<>(thing.state));
            }
            return states;
        });
    }
}
