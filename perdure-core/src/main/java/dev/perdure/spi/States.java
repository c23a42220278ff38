package dev.perdure.spi;

import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads the committed state of virtual objects. Only the transitions of the calls that hold an object write its state.
 */
public interface States {
    /** One value of an object. */
    Optional<Payload> read(ObjectKey object, String name);

    /** All values of objects, by their names. An object without a state may be left out. */
    Map<ObjectKey, SortedMap<String, Payload>> readAll(Collection<ObjectKey> objects);

    /** All values of an object, by their names. */
    default SortedMap<String, Payload> readAll(ObjectKey object) {
        return readAll(List.of(object)).getOrDefault(object, new TreeMap<>());
    }
}
