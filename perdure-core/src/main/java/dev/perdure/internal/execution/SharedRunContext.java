package dev.perdure.internal.execution;

import dev.perdure.RunId;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.execution.host.StoreAccess;
import dev.perdure.internal.execution.state.StateCalls;
import dev.perdure.internal.execution.state.StateSource;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.spi.change.ObjectKey;
import java.util.Optional;
import java.util.SortedSet;

/** The context of a shared call, which reads the state of a virtual object. */
final class SharedRunContext extends RunContext implements SharedObjectContext {
    private final ObjectKey object;
    private final StoreAccess store;
    private final StateCalls state;

    SharedRunContext(Parts parts, ObjectKey object) {
        super(parts);
        this.object = object;
        this.store = parts.host().store();
        this.state = stateCalls(StateSource.committed(parts.host(), object));
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
}
