package dev.perdure.error;

/**
 * The key of a start has no place in its queue, and the queue refuses such starts ({@code whenKeyFull(REFUSE)}).
 * Nothing was started.
 */
public final class KeyFullException extends PerdureException {
    private static final long serialVersionUID = 1L;

    private final String queue;
    private final String key;

    /** For the engine. */
    public KeyFullException(String message, String queue, String key) {
        super(message, null);
        this.queue = queue;
        this.key = key;
    }

    /** The queue. */
    public String queue() {
        return queue;
    }

    /** The key in the queue. */
    public String key() {
        return key;
    }
}
