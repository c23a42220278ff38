package dev.perdure.spi.change;

/**
 * The virtual object that a run calls, and how.
 *
 * @param object the object
 * @param hold how the call holds the object
 */
public record ObjectCall(ObjectKey object, Hold hold) {
    /** How a call holds its object. */
    public enum Hold {
        /** It does not hold the object, and runs concurrently with the call that does. */
        SHARED,
        /** It holds the object from its turn to its end, and is pending before its turn. */
        EXCLUSIVE,
        /** Like {@link #EXCLUSIVE}, but it has not arrived yet: it takes its place by {@link Move.Arrive}. */
        ON_ARRIVAL,
        /** A way that this version does not know. Stores only read it: a newer version wrote it, or a person did. */
        UNKNOWN
    }

    /** The same call, arrived. */
    public ObjectCall arrived() {
        return new ObjectCall(object, Hold.EXCLUSIVE);
    }
}
