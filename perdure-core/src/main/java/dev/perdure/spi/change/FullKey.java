package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.queue.Queue;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A key of a queue that has no place for another run.
 *
 * @param queue the queue
 * @param key the key
 * @param places how many places it has
 * @param runs the runs that hold these places or wait for them, the first started first
 */
public record FullKey(String queue, String key, int places, List<RunId> runs) {
    private static final int NAMED = 3;

    /** Whether the policy of a queue decides this start. Everything else waits for a place. */
    public static boolean decides(Change.Start start) {
        NewRun run = start.run();
        return run.queueKey() != null
                && run.delay() == null
                && run.parent() == null
                && run.object() == null
                && start.tasks().isEmpty();
    }

    /** What is the case, as a sentence. */
    public String sentence() {
        String first = runs.stream().limit(NAMED).map(run -> "'" + run + "'").collect(Collectors.joining(", "));
        String more = runs.size() > NAMED ? " and %s more".formatted(runs.size() - NAMED) : "";
        return "The key '%s' of the queue '%s' is full: %s of %s places are taken or waited for, by %s%s."
                .formatted(key, queue, runs.size(), places, first, more);
    }

    /** The reason of a run that ends without having begun. */
    public String reason(Queue.WhenKeyFull policy) {
        return (policy == Queue.WhenKeyFull.REFUSE ? "Refused. " : "Dropped. ") + sentence();
    }

    /** The reason of a run that is cancelled in favour of another. */
    public String cancelledFor(RunId newest) {
        return "Cancelled in favour of run '%s': the key '%s' of the queue '%s' is full, and its oldest run gives way."
                .formatted(newest, key, queue);
    }
}
