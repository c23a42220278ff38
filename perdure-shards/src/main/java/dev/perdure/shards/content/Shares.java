package dev.perdure.shards.content;

import dev.perdure.error.InvalidRequestException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * Divides the limits of a queue or a limiter among the shards, as the settings that stores keep. Each shard has a share of its
 * own and asks no other, so all of them together never exceed the limit. The shares of the first shards are larger by one if
 * there is a remainder. Beside its share, each shard keeps the whole limit and the number of shards, so that the limit can be
 * divided again when there are more shards or fewer.
 */
public final class Shares {
    private static final Set<String> DIVIDED =
            Set.of("concurrency", "per_worker", "per_key", "burst", "burst_per_key", "rate", "rate_per_key");
    private static final String WHEN_KEY_FULL = "when_key_full";
    private static final String WAIT = "WAIT";
    private static final String NONE = "none";
    private static final String WHOLE = "whole:";
    private static final String SHARDS = "shards";

    private Shares() {}

    /**
     * The settings of one shard.
     *
     * @param what what has the settings, at the beginning of a sentence
     * @throws InvalidRequestException if a limit is too small to be divided
     */
    public static Map<String, String> of(String what, Map<String, String> settings, int shard, int count) {
        if (count == 1) {
            return settings;
        }
        Map<String, String> share = new TreeMap<>();
        settings.forEach((setting, value) -> {
            requireDecidable(what, setting, value);
            if (DIVIDED.contains(setting)) {
                share.put(setting, value.equals(NONE) ? value : share(what, setting, value, shard, count));
                share.put(WHOLE + setting, value);
                share.put(SHARDS, String.valueOf(count));
            } else {
                share.put(setting, value);
            }
        });
        return share;
    }

    private static void requireDecidable(String what, String setting, String value) {
        if (setting.equals(WHEN_KEY_FULL) && !value.equals(WAIT)) {
            throw new InvalidRequestException(
                    "%s has %s %s, which a store with several shards does not support yet: no shard sees all runs of a key. Let them wait, or use one database."
                            .formatted(what, setting, value));
        }
    }

    private static String share(String what, String setting, String value, int shard, int count) {
        int most = most(value);
        if (most < count) {
            throw new InvalidRequestException(
                    "%s has %s %d, and the store has %d shards. Each shard has a share of the limit, of at least 1. Set it to %d or more, or use one database."
                            .formatted(what, setting, most, count, count));
        }
        return with(value, most / count + (shard < most % count ? 1 : 0));
    }

    /** The settings of which a shard has a share. */
    public static Map<String, String> whole(Map<String, String> share) {
        Map<String, String> whole = new TreeMap<>();
        share.forEach((setting, value) -> {
            if (!setting.equals(SHARDS) && !setting.startsWith(WHOLE)) {
                whole.put(setting, Objects.requireNonNullElse(share.get(WHOLE + setting), value));
            }
        });
        return whole;
    }

    private static int most(String value) {
        int slash = value.indexOf('/');
        return Integer.parseInt(slash < 0 ? value : value.substring(0, slash));
    }

    /** The same with another number: a rate keeps its period. */
    private static String with(String value, int most) {
        int slash = value.indexOf('/');
        return slash < 0 ? String.valueOf(most) : most + value.substring(slash);
    }
}
