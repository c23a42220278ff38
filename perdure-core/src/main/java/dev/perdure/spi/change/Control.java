package dev.perdure.spi.change;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The requests for a run that a worker holds.
 *
 * @param wakes how often it was woken since the worker took it
 * @param mails how many mails have ever arrived for it
 * @param cancel the reason of a cancel, or null; never reset
 * @param kill the reason of a kill, or null
 * @param pause the reason of a pause, or null
 */
public record Control(
        int wakes,
        long mails,
        @Nullable String cancel,
        @Nullable String kill,
        @Nullable String pause) {
    /** No requests. */
    public static final Control NONE = new Control(0, 0, null, null, null);

    /** Whether the other one has the same cancel, kill and pause, for the same reasons. */
    public boolean asksTheSameAs(Control other) {
        return Objects.equals(cancel, other.cancel)
                && Objects.equals(kill, other.kill)
                && Objects.equals(pause, other.pause);
    }
}
