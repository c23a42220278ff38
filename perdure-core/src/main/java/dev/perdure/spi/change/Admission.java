package dev.perdure.spi.change;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Under which conditions a run is started, and may begin. Nearly all runs have none.
 *
 * @param startWithin the time within which it has to begin, from its start or from the end of its delay; or null
 * @param weight how many units of the rate of its queue it takes when it begins, at least 1
 */
public record Admission(@Nullable Duration startWithin, int weight) {
    /** No conditions. */
    public static final Admission UNCONDITIONAL = new Admission(null);

    /** With the weight of one. */
    public Admission(@Nullable Duration startWithin) {
        this(startWithin, 1);
    }

    /**
     * The reason of a run that did not begin in time.
     *
     * @param within the time within which it had to begin
     * @param queue its queue
     */
    public static String expired(Duration within, String queue) {
        return "The run did not begin within %s in the queue '%s'. Add workers for the queue, or start the run with a longer startWithin."
                .formatted(within, queue);
    }
}
