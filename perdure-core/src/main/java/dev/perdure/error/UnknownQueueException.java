package dev.perdure.error;

/** No engine has declared a queue of this name. */
public final class UnknownQueueException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownQueueException(String message) {
        super(message, null);
    }
}
