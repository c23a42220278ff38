package dev.perdure.internal.execution;

import dev.perdure.RunId;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.StateEdits;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.StoreAccess;
import dev.perdure.internal.execution.state.ObjectMemory;
import dev.perdure.internal.execution.state.StateCalls;
import dev.perdure.internal.text.Texts;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Optional;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/** The context of a call that holds a virtual object. */
final class ObjectRunContext extends RunContext implements ObjectContext, StateEdits.Editable {
    private final ObjectKey object;
    private final StoreAccess store;
    private final ObjectMemory memory;
    private final StateCalls state;

    ObjectRunContext(Parts parts, ObjectKey object, @Nullable KnownState known) {
        super(parts);
        this.object = object;
        this.store = parts.host().store();
        this.memory = new ObjectMemory(parts.host(), object, known);
        this.state = stateCalls(memory);
        parts.transitions().knows(memory::known);
    }

    @Override
    public String key() {
        return object.key();
    }

    @Override
    public RunId main() {
        return ObjectHandler.mainId(store.prefix(object), object);
    }

    @Override
    public <T> Optional<T> get(StateKey<T> key) {
        return state.get(key);
    }

    @Override
    public SortedSet<String> keys() {
        return state.names();
    }

    @Override
    public <T> void set(StateKey<T> key, T value) {
        state.set(memory, key, value);
    }

    @Override
    public void clear(StateKey<?> key) {
        Texts.requireGiven("state key", key);
        clear(key.name());
    }

    @Override
    public void clearAll() {
        state.clearAll(memory);
    }

    @Override
    public void set(String name, Payload payload) {
        state.set(memory, name, payload);
    }

    @Override
    public void clear(String name) {
        state.clear(memory, name);
    }
}
