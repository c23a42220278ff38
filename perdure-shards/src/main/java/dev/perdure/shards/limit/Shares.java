package dev.perdure.shards.limit;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Queue;
import dev.perdure.spi.shard.KeyHomes;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.WholeLimits;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * Divides the limits of a queue or a limiter among the shards, as the settings that stores keep. Each shard has a share of its
 * own, so all of them together never exceed the limit. The places of {@code concurrency} move, so its share is not among these
 * settings: {@link Divisions} has that. Limits of keys and of workers are not divided: {@link WholeLimits}. The shares of the first shards are larger by one if
 * there is a remainder. Beside its share, each shard keeps the whole limit and the number of shards, so that the limit can be
 * divided again when there are more shards or fewer.
 */
public final class Shares {
    private static final Set<String> DIVIDED = Set.of("burst", "rate");
    private static final String NONE = "none";
    private static final String WHOLE = WholeLimits.WHOLE;
    private static final String SHARDS = Places.SHARDS;

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
            if (setting.equals(Places.CONCURRENCY)) {
                share.put(WHOLE + setting, value);
                share.put(SHARDS, String.valueOf(count));
            } else if (WholeLimits.has(setting)) {
                share.put(setting, value.equals(NONE) ? value : ofOlder(setting, value, shard, count));
                share.put(WHOLE + setting, value);
                share.put(SHARDS, String.valueOf(count));
            } else if (DIVIDED.contains(setting)) {
                share.put(setting, value.equals(NONE) ? value : share(what, setting, value, shard, count));
                share.put(WHOLE + setting, value);
                share.put(SHARDS, String.valueOf(count));
            } else {
                share.put(setting, value);
            }
        });
        return share;
    }

    /**
     * What a process of an older version takes for the limit. Of keys, no run begins, and a start decides nothing; only their
     * rates are shares, because no rate is 0. The workers of such a process do not know of each other, so each has a share.
     */
    private static String ofOlder(String setting, String value, int shard, int count) {
        return switch (setting) {
            case KeyHomes.PER_KEY -> "0";
            case WholeLimits.PER_WORKER -> String.valueOf(share(most(value), shard, count));
            case KeyHomes.WHEN_KEY_FULL -> Queue.WhenKeyFull.WAIT.name();
            default -> with(value, Math.max(1, share(most(value), shard, count)));
        };
    }

    private static String share(String what, String setting, String value, int shard, int count) {
        int most = most(value);
        if (most < count) {
            throw new InvalidRequestException(
                    "%s has %s %s, and the store has %s shards. Each shard has a share of the limit, of at least 1. Set it to %s or more, or use one database."
                            .formatted(what, setting, most, count, count));
        }
        return with(value, share(most, shard, count));
    }

    private static int share(int most, int shard, int count) {
        return most / count + (shard < most % count ? 1 : 0);
    }

    /** The settings of which a shard has a share. A share whose places move is not one of them. */
    public static Map<String, String> whole(Map<String, String> share) {
        Map<String, String> whole = new TreeMap<>();
        withoutPlaces(share).forEach((setting, value) -> {
            if (setting.startsWith(WHOLE)) {
                whole.put(setting.substring(WHOLE.length()), value);
            } else if (!setting.equals(SHARDS)) {
                whole.putIfAbsent(setting, value);
            }
        });
        return whole;
    }

    /** What a store has of a limit whose places move: all of it is in the settings that operators have changed. */
    static Map<String, String> withoutPlaces(Map<String, String> share) {
        if (!share.containsKey(Places.DIVISION)) {
            return share;
        }
        Map<String, String> others = new TreeMap<>(share);
        others.keySet().removeAll(Set.of(Places.CONCURRENCY, Places.DIVISION));
        if (others.keySet().stream().noneMatch(setting -> setting.startsWith(WHOLE))) {
            others.remove(SHARDS);
        }
        return others;
    }

    /** How many places there are on all shards together; empty if that is not said. */
    static OptionalInt concurrency(Map<String, String> whole) {
        String value = whole.get(Places.CONCURRENCY);
        return value == null
                ? OptionalInt.empty()
                : OptionalInt.of(value.equals(NONE) ? Places.UNLIMITED : Integer.parseInt(value));
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
