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
     * @param state its state
     * @param reason why, if there is a reason
     */
    record Moved(RunState state, Optional<String> reason) implements Departure {}

    /** This worker no longer holds it. The execution wrote nothing. */
    record Lost() implements Departure {}
}
