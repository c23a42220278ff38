package dev.perdure.spi.change;

/**
 * That a run is a call of a virtual object.
 *
 * @param object which
 * @param hold whether it holds it
 */
public record ObjectCall(ObjectKey object, Hold hold) {
    /** How a call stands to its object. */
    public enum Hold {
        /** It runs beside whoever holds the object. */
        SHARED,
        /** It holds the object from its turn to its end, and is pending until its turn comes. */
        EXCLUSIVE,
        /** As {@link #EXCLUSIVE}, but it has not arrived yet: it takes its place by {@link Move.Arrive}. */
        ON_ARRIVAL
    }

    /** The same call, arrived. */
    public ObjectCall arrived() {
        return new ObjectCall(object, Hold.EXCLUSIVE);
    }
}
