package dev.perdure.internal.execution.host;

import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collections;
import java.util.SortedMap;

/**
 * All that a virtual object knows, as the call that held it last left it. Worth something only to the next call that holds it,
 * and only if that was handed over in the transition that ended the last, or was told of it when it got the object. Several
 * calls may begin with the same one, if some of them have to begin again: so it cannot be changed.
 *
 * @param object which
 * @param state its values by their names; the caller does not change it any more
 */
public record KnownState(ObjectKey object, SortedMap<String, Payload> state) {
    /** Keeps others from changing it. */
    public KnownState {
        state = Collections.unmodifiableSortedMap(state);
    }
}
