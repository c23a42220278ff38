package dev.perdure.internal.execution.state;

import dev.perdure.internal.execution.host.Host;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Where a call of a virtual object reads the state. */
public interface StateSource {
    Optional<Payload> read(String name);

    SortedSet<String> names();

    ObjectKey object();

    /** The place of a value. */
    default PayloadPlace place(String name) {
        return PayloadPlace.state(object().type(), object().key(), name);
    }

    /** The committed state, read each time: for calls that do not hold the object. */
    static StateSource committed(Host host, ObjectKey object) {
        return new StateSource() {
            @Override
            public Optional<Payload> read(String name) {
                return host.store().state(object, name);
            }

            @Override
            public SortedSet<String> names() {
                return new TreeSet<>(host.store().state(object).keySet());
            }

            @Override
            public ObjectKey object() {
                return object;
            }
        };
    }
}
