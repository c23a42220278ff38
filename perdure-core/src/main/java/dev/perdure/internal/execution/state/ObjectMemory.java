package dev.perdure.internal.execution.state;

import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The state of a virtual object in the memory of the call that holds it. The call reads it from the store once, when it
 * first needs a value that it has not written itself. No other call writes it, so from then on it stays here. A call
 * that got the object together with its state reads nothing.
 *
 * <p>Invariant. The state with which the call began never changes, because other calls may begin with it too, if this
 * call has to begin again. The call's own writes are kept separately. The two are merged only for the call that follows
 * the end of this one.
 */
public final class ObjectMemory implements StateSource {
    private final Host host;
    private final ObjectKey object;
    /** The state with which the call began; null until it is read. */
    private @Nullable SortedMap<String, Payload> before;

    /** The values that the call has written; empty for those that it has cleared. */
    private final Map<String, Optional<Payload>> written = new HashMap<>();

    /** Whether the call has cleared the whole state. */
    private boolean allCleared;

    public ObjectMemory(Host host, ObjectKey object, @Nullable KnownState handedOver) {
        this.host = host;
        this.object = object;
        this.before = handedOver == null ? null : handedOver.state();
    }

    /** The whole state for the next call that holds the object, if it is known. */
    public Optional<KnownState> known() {
        return before == null && !allCleared ? Optional.empty() : Optional.of(new KnownState(object, all()));
    }

    @Override
    public ObjectKey object() {
        return object;
    }

    @Override
    public Optional<Payload> read(String name) {
        Optional<Payload> mine = written.get(name);
        return mine == null ? Optional.ofNullable(underneath().get(name)) : mine;
    }

    @Override
    public SortedSet<String> names() {
        return new TreeSet<>(all().keySet());
    }

    /** The state below the call's own writes. */
    private SortedMap<String, Payload> underneath() {
        if (allCleared) {
            return Collections.emptySortedMap();
        }
        SortedMap<String, Payload> state = before;
        if (state == null) {
            state = host.store().state(object);
            before = state;
        }
        return state;
    }

    private SortedMap<String, Payload> all() {
        SortedMap<String, Payload> state = underneath();
        if (written.isEmpty()) {
            return state;
        }
        SortedMap<String, Payload> after = new TreeMap<>(state);
        written.forEach(
                (name, value) -> value.ifPresentOrElse(payload -> after.put(name, payload), () -> after.remove(name)));
        return after;
    }

    void write(String name, Optional<Payload> value) {
        written.put(name, value);
    }

    void clearAll() {
        written.clear();
        allCleared = true;
    }
}
