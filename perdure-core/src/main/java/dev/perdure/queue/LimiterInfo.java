package dev.perdure.queue;

import java.time.Instant;
import java.util.Optional;

/**
 * A limiter as the store has it.
 *
 * @param declared what the code declares
 * @param changed what operators have changed since; it has only the settings that they changed
 * @param paused why the limiter is paused, if it is
 * @param waiting how many steps wait for a permit
 * @param oldest since when the first of them waits
 * @param held how many steps hold a permit
 */
public record LimiterInfo(
        Limiter declared, Limiter changed, Optional<String> paused, long waiting, Optional<Instant> oldest, long held) {
    /** Its name. */
    public String name() {
        return declared.name();
    }

    /** The limits that hold: what the code declares, with what operators have changed. */
    public Limiter limits() {
        return declared.with(changed);
    }
}
