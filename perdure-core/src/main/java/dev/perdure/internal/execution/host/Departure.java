package dev.perdure.internal.execution.host;

import dev.perdure.RunState;
import dev.perdure.spi.change.Payload;
import java.util.Optional;

/** How an execution left memory. */
public sealed interface Departure {
    /**
     * It ended.
     *
     * @param state a terminal state
     * @param outcome the result or failure
     * @param reason in short, why it did not complete
     */
    record Ended(RunState state, Payload outcome, String reason) implements Departure {}

    /**
     * It waits, is ready for others, or is paused.
     *
     * @param state where it is
     * @param reason why, if there is a reason
     */
    record Moved(RunState state, Optional<String> reason) implements Departure {}

    /** This worker does not hold it any more; nothing was written. */
    record Lost() implements Departure {}
}
