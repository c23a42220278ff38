package dev.perdure.retention;

import java.time.Instant;
import java.util.Optional;

/**
 * The retention in effect, and how far the workers are with it.
 *
 * @param declared what the code declares; the standard if it declares nothing
 * @param changed what an operator has put in its place, if any
 * @param pass the pass over old runs that is under way, or was the last one
 * @param nextPass when the next pass may begin, if none is under way
 */
public record RetentionInfo(Retention declared, Optional<Retention> changed, Pass pass, Optional<Instant> nextPass) {
    /**
     * A pass over the runs that may be due.
     *
     * @param began when it began; empty if there has been none
     * @param looked at how many runs it has looked
     * @param removed how many of these it has removed
     */
    public record Pass(Optional<Instant> began, long looked, long removed) {}

    /** What is in effect. */
    public Retention effective() {
        return changed.map(retention -> retention.inPlaceOf(declared)).orElse(declared);
    }
}
