package dev.perdure.spi.shard;

import dev.perdure.RunId;
import dev.perdure.queue.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits of keys of a queue that several shards have together. They are not divided: all runs of a key are in the partition
 * of the key, so the shard that has this partition counts all of them, and has the whole limit ({@link WholeLimits}). On other
 * shards no run of the key begins.
 */
public final class KeyHomes {
    /** The setting that limits how many runs of a key there are. */
    public static final String PER_KEY = "per_key";

    /** The setting that says what happens to a start whose key is full. */
    public static final String WHEN_KEY_FULL = "when_key_full";

    private static final String RATE_PER_KEY = "rate_per_key";
    private static final String NONE = "none";

    /** The settings that are about the runs of one key. */
    public static final Set<String> SETTINGS = Set.of(PER_KEY, RATE_PER_KEY, "burst_per_key", WHEN_KEY_FULL);

    private KeyHomes() {}

    /** Whether an id leads to another partition than that of the key, although the shards of the queue count runs by key. */
    public static boolean leadsElsewhere(Queue queue, RunId run, @Nullable String key) {
        return key != null && limitsKeys(queue) && Partitions.of(run) != Partitions.ofQueueKey(key);
    }

    /** Whether several shards have limits of keys of this queue together. */
    public static boolean limitsKeys(Queue queue) {
        return limits(queue, PER_KEY) || limits(queue, RATE_PER_KEY);
    }

    private static boolean limits(Queue queue, String setting) {
        return !queue.settings().getOrDefault(WholeLimits.WHOLE + setting, NONE).equals(NONE);
    }

    /** Why a run does not begin whose key is counted on another shard. */
    public static String reason(String queue, String key) {
        return "The queue '%s' limits keys, and another shard than that of this run counts the runs of the key '%s'. Move the run to another queue, or start it anew and leave the id to Perdure."
                .formatted(queue, key);
    }
}
