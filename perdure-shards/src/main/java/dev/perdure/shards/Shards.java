package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.error.StoreException;
import dev.perdure.shards.limit.Divisions;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Exchange.Look;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.ShardMap;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The shards, which of them has what, and requests to several of them at the same time. */
final class Shards {
    /** The order in which stores list names. */
    static final Comparator<String> BY_UTF8 = (one, other) ->
            Arrays.compareUnsigned(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    private final List<Shard> all;
    private final Duration patience;
    private final AtomicReference<Routes> routes;
    private final List<Runnable> followers = new CopyOnWriteArrayList<>();
    /** When the last question was sent to each shard whose answer showed no newer map. */
    private final AtomicLongArray known;

    /** Short texts, one of each partition, with which ids begin whose run has to be in that partition. */
    private static final List<String> PREFIXES = prefixes();

    Shards(List<Shard> all, ShardMap map, Duration patience) {
        this.all = List.copyOf(all);
        this.patience = patience;
        this.routes = new AtomicReference<>(routes(map));
        this.known = new AtomicLongArray(LongStream.generate(() -> System.nanoTime() - Parts.FRESH.toNanos())
                .limit(all.size())
                .toArray());
    }

    /**
     * Where partitions are.
     *
     * @param map the map
     * @param owners the indexes of the shards, by partition; negative if this process does not have the shard
     */
    private record Routes(ShardMap map, List<Integer> owners) {
        int of(int partition) {
            if (owners.get(partition) < 0) {
                throw new StoreException(
                        StoreException.Kind.MOVING,
                        "Partition %s is on shard '%s' by the map of version %s, and this process does not have that shard. Start it again with all shards."
                                .formatted(partition, map.owners().get(partition), map.version()),
                        null);
            }
            return owners.get(partition);
        }

        boolean isNewerThan(Routes other) {
            return map.version() > other.map.version();
        }
    }

    private Routes routes(ShardMap map) {
        List<String> names = all.stream().map(Shard::name).toList();
        return new Routes(map, map.owners().stream().map(names::indexOf).toList());
    }

    /** Follows the map that a shard has, if it is newer than the one that this process has. */
    boolean follow(int shard) {
        return follow(exchange(shard).membership().orElseThrow().map());
    }

    private boolean follow(ShardMap map) {
        Routes there = routes(map);
        Routes before = routes.getAndUpdate(mine -> there.isNewerThan(mine) ? there : mine);
        boolean isNewer = there.isNewerThan(before);
        if (isNewer) {
            followers.forEach(Runnable::run);
        }
        return isNewer;
    }

    /** Looks at a shard, and notes whether its map was not newer than the one that this process has. */
    Look look(int shard, Collection<Integer> partitions, int limit) {
        long sent = System.nanoTime();
        Look look = exchange(shard).look(partitions, limit);
        if (look.version() <= version()) {
            known.set(shard, sent);
        }
        return look;
    }

    /** Follows the map of a shard if it is newer. Asks the shard unless that was done a short time ago. */
    void followNewer(int shard) {
        long sent = System.nanoTime();
        if (sent - known.get(shard) >= Parts.FRESH.toNanos()) {
            exchange(shard).newerMap(version()).ifPresent(this::follow);
            known.set(shard, sent);
        }
    }

    /**
     * A shard has given these runs to a worker. Follows its map if this process believes that one of them is elsewhere: or the
     * worker would take a run that has come to the shard for one that has left it.
     */
    void learn(int shard, List<Dispatch.Claimed> claimed) {
        if (claimed.stream().anyMatch(claim -> !has(shard, claim.run().id()))) {
            follow(shard);
        }
    }

    /** Lets something run each time this process has got a newer map. */
    Hints.Subscription onNewMap(Runnable follower) {
        followers.add(follower);
        return () -> followers.remove(follower);
    }

    /**
     * Reads the maps of the shards, and refuses what concerns all shards if the newest one has a shard that this process does
     * not have.
     */
    void requireAll() {
        askWhatAnswers(indexes(), this::follow);
        requireHere("sets no limits");
    }

    /** Refuses what concerns all shards if the map has a shard that this process does not have. */
    void requireHere(String refused) {
        ShardMap map = routes.get().map();
        List<String> names = all.stream().map(Shard::name).toList();
        if (!names.containsAll(map.shards())) {
            throw new StoreException(
                    StoreException.Kind.MOVING,
                    "The map of version %s has the shards %s, and this process has %s, so it %s. Start it again with all shards."
                            .formatted(map.version(), map.shards(), names, refused),
                    null);
        }
    }

    /** The version of the map that this process has. */
    int version() {
        return routes.get().map().version();
    }

    private static List<String> prefixes() {
        Map<Integer, String> found = new TreeMap<>();
        for (int i = 0; found.size() < Partitions.COUNT; i++) {
            String text = "p" + Integer.toString(i, Character.MAX_RADIX);
            found.putIfAbsent(Partitions.ofText(text), text + "/");
        }
        return List.copyOf(found.values());
    }

    List<Shard> all() {
        return all;
    }

    Store store(int shard) {
        return all.get(shard).store();
    }

    String name(int shard) {
        return all.get(shard).name();
    }

    int size() {
        return all.size();
    }

    /**
     * Whether there are several shards, or may have been: partitions have moved. What is on its way, and links to runs of
     * other shards, stay where they are when all partitions have come to one shard.
     */
    boolean haveBeenSeveral() {
        return size() > 1 || version() > ShardMap.FIRST;
    }

    // ---- which shard has what

    int of(RunId run) {
        return ofPartition(Partitions.of(run));
    }

    /** Whether a shard has the run with this id, or would have it. */
    boolean has(int shard, RunId run) {
        return routes.get().owners().get(Partitions.of(run)) == shard;
    }

    /** Whether this process has the shard of the run with this id. */
    boolean isHere(RunId run) {
        return routes.get().owners().get(Partitions.of(run)) >= 0;
    }

    int of(RunRef run) {
        return ofPartition(Partitions.ofKey(run.key()));
    }

    int of(ObjectKey object) {
        return ofPartition(Partitions.of(object));
    }

    /** The shard that decides about starts under a key. */
    int of(String definition, StartKey key) {
        return ofPartition(partition(definition, key));
    }

    int ofPartition(int partition) {
        return routes.get().of(partition);
    }

    /** The partitions of the shards for which this holds. */
    List<Integer> partitions(IntPredicate shard) {
        List<Integer> owners = routes.get().owners();
        return IntStream.range(0, Partitions.COUNT)
                .filter(partition -> owners.get(partition) >= 0 && shard.test(owners.get(partition)))
                .boxed()
                .toList();
    }

    /** What this process does about limits whose places move. */
    Divisions divisions() {
        return new Divisions(this::places, all.stream().map(Shard::name).toList(), this::askHere);
    }

    Places places(int shard) {
        return exchange(shard).places();
    }

    Exchange exchange(int shard) {
        return all.get(shard).exchange();
    }

    Store having(RunId run) {
        return store(of(run));
    }

    Store having(RunRef run) {
        return store(of(run));
    }

    Store having(ObjectKey object) {
        return store(of(object));
    }

    String prefix(ObjectKey object) {
        return PREFIXES.get(Partitions.of(object));
    }

    String prefix(String definition, StartKey key) {
        return PREFIXES.get(partition(definition, key));
    }

    String prefix(String queueKey) {
        return PREFIXES.get(Partitions.ofQueueKey(queueKey));
    }

    private static int partition(String definition, StartKey key) {
        return Partitions.ofStart(definition, key.getClass().getSimpleName(), key.key());
    }

    // ---- requests

    /** The answers of all shards, in their order. If one does not answer in time, the exception names it. */
    <T> List<T> ask(Function<Store, T> question) {
        return ask(indexes(), shard -> question.apply(store(shard)));
    }

    /** What the shard of a partition finds. If it finds nothing, the partition may have moved since this process has read the map. */
    <T> Optional<T> find(int partition, Function<Store, Optional<T>> question) {
        int version = version();
        int shard = ofPartition(partition);
        Optional<T> found = question.apply(store(shard));
        if (found.isEmpty() && size() > 1) {
            follow(shard);
        }
        return found.isEmpty() && version() > version ? question.apply(store(ofPartition(partition))) : found;
    }

    /** The indexes of all shards. */
    List<Integer> indexes() {
        return IntStream.range(0, size()).boxed().toList();
    }

    private <T> List<T> askWhatAnswers(List<Integer> some, Function<Integer, T> question) {
        if (some.size() == 1) {
            return List.of(askHere(some.getFirst(), question));
        }
        List<CompletableFuture<T>> asked =
                some.stream().map(shard -> begin(() -> question.apply(shard))).toList();
        List<T> answers = new ArrayList<>();
        @Nullable StoreException silent = null;
        long until = System.nanoTime() + patience.toNanos();
        for (int i = 0; i < asked.size(); i++) {
            try {
                answers.add(answer(some.get(i), asked.get(i), until, patience));
            } catch (StoreException trouble) {
                silent = trouble;
            }
        }
        if (answers.isEmpty() && silent != null) {
            throw silent;
        }
        return answers;
    }

    /** The same of some shards, by their indexes. */
    <T> List<T> ask(List<Integer> shards, Function<Integer, T> question) {
        return ask(shards, patience, question);
    }

    /** The same with another patience. */
    <T> List<T> ask(List<Integer> shards, Duration within, Function<Integer, T> question) {
        if (size() == 1) {
            return shards.stream().map(question).toList();
        }
        List<CompletableFuture<T>> asked =
                shards.stream().map(shard -> begin(() -> question.apply(shard))).toList();
        List<T> answers = new ArrayList<>();
        long until = System.nanoTime() + within.toNanos();
        for (int i = 0; i < asked.size(); i++) {
            answers.add(answer(shards.get(i), asked.get(i), until, within));
        }
        return answers;
    }

    /** The answer of a shard, in the thread of the caller. An exception names the shard. */
    <T> T askHere(int shard, Function<Integer, T> question) {
        try {
            return question.apply(shard);
        } catch (StoreException trouble) {
            throw size() == 1 ? trouble : trouble(shard, trouble);
        }
    }

    /**
     * The answers of those shards that have some of these things and answer in time; throws only if none does. For those
     * who ask again and again.
     */
    <T, R> List<R> askOfSome(Collection<T> things, Function<T, Integer> shard, BiFunction<Store, List<T>, R> question) {
        Map<Integer, List<T>> divided = Parts.divide(things, shard);
        return askWhatAnswers(
                List.copyOf(divided.keySet()), one -> question.apply(store(one), divided.getOrDefault(one, List.of())));
    }

    /** Tells all shards something, one after the other, until one cannot be told: the exception names it. */
    void tell(Consumer<Store> saying) {
        tellEach((unused, store) -> saying.accept(store));
    }

    /** The same for what differs from shard to shard. */
    void tellEach(BiConsumer<Integer, Store> saying) {
        for (int shard = 0; shard < size(); shard++) {
            askHere(shard, one -> {
                saying.accept(one, store(one));
                return true;
            });
        }
    }

    private static <T> CompletableFuture<T> begin(Supplier<T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Thread.ofVirtual().name("perdure-shard-request").start(() -> {
            try {
                answer.complete(question.get());
            } catch (RuntimeException | Error thrown) {
                answer.completeExceptionally(thrown);
            }
        });
        return answer;
    }

    private <T> T answer(int shard, CompletableFuture<T> asked, long until, Duration within) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return asked.get(Math.max(1, until - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException again) {
                    interrupted = true;
                } catch (TimeoutException late) {
                    throw new StoreException(
                            StoreException.Kind.UNAVAILABLE,
                            "Shard '%s' did not answer within %s.".formatted(name(shard), within),
                            late);
                } catch (ExecutionException failed) {
                    throw trouble(shard, failed.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Names the shard in the message of an exception of its store. */
    RuntimeException trouble(int shard, @Nullable Throwable cause) {
        return switch (cause) {
            case StoreException ofStore -> all.get(shard).named(ofStore);
            case Error error -> throw error;
            case RuntimeException other -> other;
            case null, default -> new IllegalStateException(cause);
        };
    }
}
