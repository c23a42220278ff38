package dev.perdure.torture.fault;

import java.util.Random;

/** Something that is done to a target. */
@FunctionalInterface
interface Fault {
    /**
     * Does it, for as long as it takes, and undoes what does not pass by itself.
     *
     * @return what was seen of its effect
     * @throws NoEffectException if none was seen: then the fault does not count as injected
     */
    String strike(Target target, Random chance) throws Exception;
}
