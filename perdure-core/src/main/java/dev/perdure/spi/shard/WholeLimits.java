package dev.perdure.spi.shard;

import dev.perdure.queue.Queue;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits that several shards have together and that are not divided among them. In the settings of each shard the whole limit
 * stands beside a share of it, which processes of older versions read.
 */
public final class WholeLimits {
    /** What the names of settings begin with that have a whole limit, beside what one shard has of it. */
    public static final String WHOLE = "whole:";

    /**
     * The setting that limits how many runs one worker holds. The workers of one process, one for each shard, keep it together
     * ({@link dev.perdure.spi.Dispatch.Poll#ofQueues}).
     */
    public static final String PER_WORKER = "per_worker";

    private WholeLimits() {}

    /** Whether this setting of a queue is such a limit. */
    public static boolean has(String setting) {
        return setting.equals(PER_WORKER) || KeyHomes.SETTINGS.contains(setting);
    }

    /** The limits of a queue as they are for claims of any shard, and for keys on the shard that has their partitions. */
    public static Queue of(Queue queue) {
        Map<String, String> whole = new HashMap<>();
        queue.settings().forEach((setting, value) -> {
            if (setting.startsWith(WHOLE) && has(setting.substring(WHOLE.length()))) {
                whole.put(setting.substring(WHOLE.length()), value);
            }
        });
        return whole.isEmpty() ? queue : queue.with(Queue.of(queue.name(), whole));
    }
}
