package dev.perdure.spi.change;

import java.util.Map;

/**
 * Where a run comes from.
 *
 * @param queue its queue
 * @param headers the headers that it was started with, by name
 */
public record Origin(String queue, Map<String, String> headers) {
    /** The origin of a run that is started. */
    public static Origin of(NewRun run) {
        return new Origin(run.queue(), run.description().headers());
    }
}
