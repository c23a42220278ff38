package dev.perdure.spi.change;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a run comes from.
 *
 * @param queue its queue
 * @param headers the headers that it was started with, by name
 * @param createdAt when it was started, by the store's clock; null for a call of a virtual object that a worker executes
 *     before the store knows it
 */
public record Origin(
        String queue, Map<String, String> headers, @Nullable Instant createdAt) {
    /** The origin of a run that is started. */
    public static Origin of(NewRun run, @Nullable Instant createdAt) {
        return new Origin(run.queue(), run.description().headers(), createdAt);
    }
}
