package dev.perdure.error;

import dev.perdure.Outbox;

/**
 * No run has this id, or not yet: a run that was started through an {@link Outbox} exists when a worker has read the
 * request, a moment after the commit.
 */
public final class UnknownRunException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownRunException(String message) {
        super(message, null);
    }
}
