package dev.perdure.error;

import dev.perdure.Outbox;

/**
 * There is no run with this id, or not yet: one that was started through an {@link Outbox} is there when a worker has read it,
 * a moment after the commit.
 */
public final class UnknownRunException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownRunException(String message) {
        super(message, null);
    }
}
