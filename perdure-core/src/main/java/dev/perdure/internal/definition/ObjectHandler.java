package dev.perdure.internal.definition;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;

/**
 * A handler of a virtual object, as a call needs it.
 *
 * @param target its name and types
 * @param object the name of the object's type
 * @param exclusive whether it holds the object
 * @param once whether it runs once per key
 */
public record ObjectHandler(Target target, String object, boolean exclusive, boolean once) {
    /**
     * The call of one object.
     *
     * @param later whether it begins after a delay: then it takes its place in the order after the delay
     */
    public ObjectCall call(String key, boolean later) {
        Hold exclusively = later ? Hold.ON_ARRIVAL : Hold.EXCLUSIVE;
        return new ObjectCall(new ObjectKey(object, key), exclusive ? exclusively : Hold.SHARED);
    }

    /**
     * The id of the only run that a handler which runs once has for this key.
     *
     * @param prefix what the ids of calls of the object begin with
     */
    public static RunId mainId(String prefix, ObjectKey object) {
        return RunId.of(prefix + object.type() + "/" + object.key());
    }

    /** Refuses an id for a handler that chooses the id itself. */
    public void requireNoId(boolean chosen) {
        if (once && chosen) {
            throw new InvalidRequestException(
                    "An id was given to a call of '%s', which runs once per key: its id is the name of the object and the key. Leave the id out."
                            .formatted(target.name()));
        }
    }
}
