package dev.perdure.spi.shard;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.ObjectKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The parts of a store that fail independently of each other, such as the servers among which a sharded store divides its
 * runs. An engine has a worker for each part, with a lease, lanes and committers of its own, and sends changes of
 * different parts in different batches. So a part that is out of reach stops its own runs and no others.
 */
public interface Parts {
    /** How old it may be what a part has said about where runs are. */
    Duration FRESH = Duration.ofSeconds(3);

    /**
     * The parts. The leases, the dispatch, the hints and the removals of each concern only its own runs; everything else
     * reaches all runs of the store. Each stays the same as long as the store is open.
     */
    List<Store> stores();

    /** The index of the part that has the run with this id, or would have it. */
    int of(RunId run);

    /** Whether a part has the run with this id, as far as this process knows. Does not ask the store. */
    default boolean has(int part, RunId run) {
        return of(run) == part;
    }

    /**
     * Asks a part where runs are now, because other processes move runs from one part to another. From then on, {@link #has}
     * knows what the part knew when this was called, or at most {@link #FRESH} before.
     */
    default void follow(int part) {}

    /**
     * What the id of a call of this virtual object has to begin with, so that the call is in the part that has the object;
     * empty if any id will do. The engine puts it before the ids that it makes.
     */
    String prefix(ObjectKey object);

    /** What the id of a run has to begin with that is started under this key; empty if any id will do. */
    String prefix(String definition, StartKey key);

    /**
     * What the id of a run has to begin with that is started with this key in a queue, so that one part has all runs of the
     * key; empty if any id will do.
     */
    String prefix(String queueKey);

    /**
     * Things by the part that has them, in their order.
     *
     * @param part the part of a thing
     */
    static <T> Map<Integer, List<T>> divide(Collection<T> things, Function<T, Integer> part) {
        Map<Integer, List<T>> divided = new LinkedHashMap<>();
        things.forEach(thing -> divided.computeIfAbsent(part.apply(thing), unseen -> new ArrayList<>())
                .add(thing));
        return divided;
    }

    /** The same parts, each of which is reached through one of these stores, in this order. */
    default Parts through(List<Store> stores) {
        Parts real = this;
        return new Parts() {
            @Override
            public List<Store> stores() {
                return stores;
            }

            @Override
            public int of(RunId run) {
                return real.of(run);
            }

            @Override
            public boolean has(int part, RunId run) {
                return real.has(part, run);
            }

            @Override
            public void follow(int part) {
                real.follow(part);
            }

            @Override
            public String prefix(ObjectKey object) {
                return real.prefix(object);
            }

            @Override
            public String prefix(String definition, StartKey key) {
                return real.prefix(definition, key);
            }

            @Override
            public String prefix(String queueKey) {
                return real.prefix(queueKey);
            }
        };
    }

    /** The only part of a store that is not divided: the store itself. */
    static Parts whole(Store store) {
        return new Parts() {
            @Override
            public List<Store> stores() {
                return List.of(store);
            }

            @Override
            public int of(RunId run) {
                return 0;
            }

            @Override
            public String prefix(ObjectKey object) {
                return "";
            }

            @Override
            public String prefix(String definition, StartKey key) {
                return "";
            }

            @Override
            public String prefix(String queueKey) {
                return "";
            }
        };
    }
}
