package dev.perdure.error;

import dev.perdure.RunState;

/**
 * Thrown once into a cancelled workflow, at its next step, wait or {@code now()}. Catch it to compensate with further
 * steps. If the workflow lets it through, the run ends as {@link RunState#CANCELLED}.
 */
public final class CancelledException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public CancelledException(String reason) {
        super(reason, null);
    }
}
