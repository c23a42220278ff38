package dev.perdure.internal.execution.host;

import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collections;
import java.util.SortedMap;

/**
 * All values of a virtual object, as the call that held it last left them. Only the next call that holds the object can
 * use them, and only if the transition that ended the last call handed the object over, or the answer that gave the
 * object brought them. Several calls may begin with the same values, if some of them have to begin again, so it is
 * immutable.
 *
 * @param object the object
 * @param state its values by their names; the caller must not change the map afterwards
 */
public record KnownState(ObjectKey object, SortedMap<String, Payload> state) {
    /** Prevents changes. */
    public KnownState {
        state = Collections.unmodifiableSortedMap(state);
    }
}
