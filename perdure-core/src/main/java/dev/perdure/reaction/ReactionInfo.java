package dev.perdure.reaction;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A reaction as the store has it.
 *
 * @param name its name
 * @param occasions when it starts a run
 * @param late after what time a run is late, if that is an occasion
 * @param definitions the definitions whose runs it is for; empty for all
 * @param starts the name of the definition that it starts
 * @param queue the queue of the runs that it starts
 * @param paused why it starts nothing, if it is paused
 */
public record ReactionInfo(
        String name,
        Set<Occasion> occasions,
        Optional<Duration> late,
        Set<String> definitions,
        String starts,
        String queue,
        Optional<String> paused) {
    /** Copies the sets. */
    public ReactionInfo {
        occasions = Set.copyOf(occasions);
        definitions = Set.copyOf(definitions);
    }
}
