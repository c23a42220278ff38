package dev.perdure.internal.execution;

import dev.perdure.spi.ObjectKey;
import dev.perdure.spi.Payload;
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
 * call has not written itself; nobody else writes, so from then on it is kept here. A call that was handed the object together
 * with what is known of it reads nothing at all.
 */
final class ObjectMemory implements StateSource {
    private final Host host;
    private final ObjectKey object;
    private final Map<String, Optional<Payload>> changed = new HashMap<>();
    private @Nullable SortedMap<String, Payload> known;

    ObjectMemory(Host host, ObjectKey object, @Nullable Known handedOver) {
        this.host = host;
        this.object = object;
        this.known = handedOver == null ? null : handedOver.state();
    }

    /** For the next call that holds the object. */
    Optional<Known> known() {
        return Optional.ofNullable(known).map(state -> new Known(object, state));
    }

    @Override
    public Optional<Payload> read(String name) {
        Optional<Payload> written = changed.get(name);
        return written == null ? Optional.ofNullable(all().get(name)) : written;
    }

    @Override
    public SortedSet<String> names() {
        return new TreeSet<>(all().keySet());
    }

    private SortedMap<String, Payload> all() {
        SortedMap<String, Payload> state = known;
        if (state == null) {
            state = new TreeMap<>(host.state(object));
            for (Map.Entry<String, Optional<Payload>> change : changed.entrySet()) {
                write(state, change.getKey(), change.getValue());
            }
            known = state;
        }
        return state;
    }

    void write(String name, Optional<Payload> value) {
        changed.put(name, value);
        if (known != null) {
            write(known, name, value);
        }
    }

    private static void write(SortedMap<String, Payload> state, String name, Optional<Payload> value) {
        if (value.isPresent()) {
            state.put(name, value.get());
        } else {
            state.remove(name);
        }
    }

    void clearAll() {
        changed.clear();
        known = new TreeMap<>();
    }
}
