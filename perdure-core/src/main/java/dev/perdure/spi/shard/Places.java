package dev.perdure.spi.shard;

import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * The places that a shard has of limits that all shards have together: of {@code concurrency} of queues and limiters. Its claims
 * give as many runs a place, and those for permits as many attempts a permit, as the shard has places, and no more.
 *
 * <p>Places move from shard to shard by totals. A shard that gives places lowers its own number and raises the total of what it has sent to the
 * other one in this division; the other one raises its number by what is new in that total. So a total may be told twice, or
 * late. A division has a number. Every shard {@link #join joins} a new one, which only lowers what it has, before any of them
 * {@link #settle settles}, which raises it. Shards neither send nor receive anything across divisions.
 */
public interface Places {
    /** So many places that nothing is limited. */
    int UNLIMITED = Queue.UNLIMITED;

    /** For how long places that have come stay if something waits for them. */
    Duration STAY = Duration.ofSeconds(1);

    /** For how long places are set aside for a shard that does not ask again. */
    Duration ASIDE = Duration.ofSeconds(3);

    /** The setting that is a share if there is also a {@link #DIVISION}. */
    String CONCURRENCY = "concurrency";

    /** The setting with the number of the division. */
    String DIVISION = "division";

    /** The setting with the number of shards among which limits are divided. */
    String SHARDS = "shards";

    /** What has a limit. */
    enum Kind {
        /** A queue. */
        QUEUE,
        /** A limiter of steps. */
        LIMITER
    }

    /** A limit: that of a queue or of a limiter. */
    record Limit(Kind kind, String name) {}

    /**
     * How a limit is divided.
     *
     * @param number rises with each division of the limit; 1 for the first
     * @param whole how many places all shards have together, or {@link #UNLIMITED}
     * @param shards the names of the shards, in their order
     */
    record Division(long number, int whole, List<String> shards) {
        /** Copies the list. */
        public Division {
            shards = List.copyOf(shards);
        }
    }

    /**
     * What this shard has of a limit.
     *
     * @param division the division that it has joined
     * @param joined how many places it had when it joined
     * @param places how many it has now
     * @param settled whether it has settled since
     */
    record Share(Limit limit, Division division, int joined, int places, boolean settled) {}

    /** What this shard has of all limits that were ever divided. */
    List<Share> shares();

    /** The same of one limit. */
    default Optional<Share> share(Limit limit) {
        return shares().stream().filter(share -> share.limit().equals(limit)).findFirst();
    }

    /**
     * Declares a queue or limiter of which this store has never heard, and begins its first division with this many places.
     * Otherwise, does nothing.
     *
     * @param declared its settings
     */
    void open(Limit limit, Map<String, String> declared, Division first, int places);

    /**
     * Joins a division, unless this shard has joined it or a later one already: keeps what it has, but at most this many places
     * or as many as it has given. What other shards have sent in earlier divisions is dropped.
     *
     * @param places its even part
     * @return what it has then
     */
    Share join(Limit limit, Division division, int places);

    /**
     * Adds to its share what this division gives it beyond what it had when it joined, once. All shards have joined before.
     *
     * @param division the number of the division; nothing happens if the shard has joined another one since
     * @param places what this division gives it
     */
    void settle(Limit limit, long division, int places);

    /** Ends the division of a limit of which this is the only shard: from now on the settings alone say what the limit is. */
    void dissolve(Limit limit);

    /**
     * A shard whose places are used up while something waits for one.
     *
     * @param division the number of its division
     * @param places how many it has
     * @param wanted how many more it could use
     * @param sent what it has sent to other shards, by their names
     */
    record Need(Limit limit, long division, int places, int wanted, Map<String, Long> sent) {
        /** Copies the map. */
        public Need {
            sent = Map.copyOf(sent);
        }
    }

    /**
     * For which limits that are divided something waits here and all places are used up. Places that were set aside for others,
     * who have not asked for them since, are used here again.
     */
    List<Need> needs();

    /**
     * A shard asks another one for places.
     *
     * @param division the number of the division
     * @param by the name of the shard that asks
     * @param places how many it has
     * @param wanted how many more it wants
     * @param sent what it has ever sent to the other one in this division
     */
    record Request(Limit limit, long division, String by, int places, int wanted, long sent) {}

    /**
     * Takes what the asking shard has sent, and sends it what is free here. If something waits here, some places are set aside
     * instead, and sent when the shard asks again.
     *
     * @return what this shard has ever sent to the other one in this division; empty if it has joined another division, or
     *     has not settled
     */
    OptionalLong give(Request request);

    /** Takes what another shard has sent to this one, of which this is the total in this division; returns how many that are. */
    int receive(Limit limit, long division, String from, long total);

    /** The settings that tell claims what a shard may give. They are among those that operators have changed. */
    static Map<String, String> settings(Division division, int places) {
        return Map.of(
                CONCURRENCY,
                places == UNLIMITED ? "none" : String.valueOf(places),
                DIVISION,
                String.valueOf(division.number()),
                SHARDS,
                String.valueOf(division.shards().size()));
    }

    /** Those of them that are among these settings: an operator who resets all changes does not change them. */
    static Map<String, String> kept(Map<String, String> changed) {
        Map<String, String> kept = new TreeMap<>(changed);
        kept.keySet().retainAll(changed.containsKey(DIVISION) ? Set.of(CONCURRENCY, DIVISION, SHARDS) : Set.of());
        return kept;
    }
}
