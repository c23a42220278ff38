package dev.perdure.shards.limit;

import dev.perdure.spi.Audit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the store of one shard has for its queues, or for its limiters. Limits are names of settings with texts. */
public interface LimitRules {
    /**
     * What has limits.
     *
     * @param name its name
     * @param declared what the code declares
     * @param changed what operators have changed since
     * @param paused why it is paused, if it is
     */
    record Limited(String name, Map<String, String> declared, Map<String, String> changed, Optional<String> paused) {}

    /** All of them. */
    List<Limited> list();

    /** Stores what the code declares. */
    void declare(Map<String, Map<String, String>> byName);

    /** Changes settings. This and the next two return whether the name is known. */
    boolean limit(String name, Map<String, String> changes, @Nullable Audit audit);

    /** Removes all changes of settings. */
    boolean reset(String name, @Nullable Audit audit);

    /** Pauses it; lets it go on if there is no reason. */
    boolean pause(String name, @Nullable String reason, @Nullable Audit audit);
}
