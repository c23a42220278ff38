package dev.perdure.error;

/** No live worker has this version, and no live run is pinned to it. */
public final class UnknownVersionException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownVersionException(String message) {
        super(message, null);
    }
}
