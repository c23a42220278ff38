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
 * What the call that holds a virtual object knows of its state. It is read once, when it is first asked about something that the
 * call has not written itself; no other call writes, so from then on it is kept here. A call that was handed the object together
 * with what is known of it reads nothing at all.
 *
 * <p>Invariant. What the call began with is never changed: other calls may begin with it, too, if this one has to begin again.
 * The call's own writes are kept beside it, and both are put together only for the call that comes after the end of this one.
 */
public final class ObjectMemory implements StateSource {
    private final Host host;
    private final ObjectKey object;
    /** What the call began with, or null as long as it has not been read. */
    private @Nullable SortedMap<String, Payload> before;

    /** What the call has written; empty for what it has cleared. */
    private final Map<String, Optional<Payload>> written = new HashMap<>();

    /** Whether the call has cleared all that was there before. */
    private boolean allCleared;

    public ObjectMemory(Host host, ObjectKey object, @Nullable KnownState handedOver) {
        this.host = host;
        this.object = object;
        this.before = handedOver == null ? null : handedOver.state();
    }

    /** For the next call that holds the object: everything, if that is known. */
    public Optional<KnownState> known() {
        return before == null && !allCleared ? Optional.empty() : Optional.of(new KnownState(object, all()));
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

    /** What the call's own writes lie over. */
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
