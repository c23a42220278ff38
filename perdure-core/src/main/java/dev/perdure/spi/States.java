package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
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

    /** How many calls that wait for an object are counted. */
    int MOST_COUNTED = 100;

    /**
     * An object as operators see it.
     *
     * @param key its key
     * @param holder the run that holds it, if there is one
     * @param waiting how many calls wait for it, {@link #MOST_COUNTED} at most
     */
    record Listed(String key, Optional<RunId> holder, int waiting) {}

    /**
     * Which objects of a type to list.
     *
     * @param type the type
     * @param prefix what their keys begin with; empty for all
     * @param after the key after which to begin; empty for the first page
     * @param limit how many at most
     */
    record Page(String type, String prefix, String after, int limit) {}

    /**
     * The types of objects that were called exclusively, by UTF-8. A store that has removed the last call of an object
     * without a state has forgotten the object.
     *
     * @param after the type after which to begin; empty for the first page
     */
    List<String> types(String after, int limit);

    /** The objects of a type that were called exclusively, in the order of their keys by UTF-8. */
    List<Listed> list(Page page);

    /**
     * Some values of an object.
     *
     * @param values by their names, in the order of these by UTF-8
     * @param last whether no value follows
     */
    record Values(SequencedMap<String, Payload> values, boolean last) {}

    /**
     * A page of the values of an object: at least one value, if there is one, and then as many as fit into the bytes.
     *
     * @param after the name after which to begin; empty for the first page
     * @param limit how many at most
     */
    Values read(ObjectKey object, String after, int limit, int maxBytes);

    /** All values of an object, by their names. */
    default SortedMap<String, Payload> readAll(ObjectKey object) {
        return readAll(List.of(object)).getOrDefault(object, new TreeMap<>());
    }
}
