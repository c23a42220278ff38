package dev.perdure.spi;

import java.util.Optional;
import java.util.SortedMap;

/** What virtual objects know, as it is committed. Written only by transitions of the calls that hold them. */
public interface States {
    /** One value of an object. */
    Optional<Payload> read(ObjectKey object, String name);

    /** All values of an object, by their names. */
    SortedMap<String, Payload> readAll(ObjectKey object);
}
