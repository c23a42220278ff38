package dev.perdure.error;

import dev.perdure.RunState;

/**
 * Delivered once into a workflow whose run was cancelled, at its next step, wait or {@code now()}. Catch it to compensate with
 * further steps; let it through to end the run as {@link RunState#CANCELLED}.
 */
public final class CancelledException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public CancelledException(String reason) {
        super(reason, null);
    }
}
