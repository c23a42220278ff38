package dev.perdure.retention;

/**
 * Shows operators how long runs are kept, and lets them change it. A change takes effect in all processes with the next
 * batch, and stays in effect after a deploy until it is reset. Thread-safe.
 *
 * <pre>{@code
 * perdure.retention().change(Retention.days(7));
 * }</pre>
 */
public interface Retentions {
    /** What is in effect, and how far the workers are with it. */
    RetentionInfo info();

    /** Puts this in the place of what the code declares. */
    void change(Retention retention);

    /** Goes back to what the code declares. */
    void reset();
}
