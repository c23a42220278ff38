package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The shards, which of them has what, and requests to several of them at the same time. */
final class Shards {
    /** The order in which stores list names. */
    static final Comparator<String> BY_UTF8 = (one, other) ->
            Arrays.compareUnsigned(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));

    private final List<Shard> all;
    private final Duration patience;
    /** The index of the shard that has a partition. */
    private final int[] owners;
    /** Short texts, one of each partition, with which ids begin whose run has to be in that partition. */
    private static final List<String> PREFIXES = prefixes();

    Shards(List<Shard> all, ShardMap map, Duration patience) {
        this.all = List.copyOf(all);
        this.patience = patience;
        List<String> names = all.stream().map(Shard::name).toList();
        this.owners = map.owners().stream().mapToInt(names::indexOf).toArray();
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

    // ---- which shard has what

    int of(RunId run) {
        return owners[Partitions.of(run)];
    }

    int of(RunRef run) {
        return owners[Partitions.ofKey(run.key())];
    }

    int of(ObjectKey object) {
        return owners[Partitions.of(object)];
    }

    /** The shard that decides about starts under a key. */
    int of(String definition, StartKey key) {
        return owners[partition(definition, key)];
    }

    int ofPartition(int partition) {
        return owners[partition];
    }

    /** The partitions of the shards for which this holds. */
    List<Integer> partitions(IntPredicate shard) {
        return IntStream.range(0, Partitions.COUNT)
                .filter(partition -> shard.test(owners[partition]))
                .boxed()
                .toList();
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
        return size() == 1 ? "" : PREFIXES.get(Partitions.of(object));
    }

    String prefix(String definition, StartKey key) {
        return size() == 1 ? "" : PREFIXES.get(partition(definition, key));
    }

    private static int partition(String definition, StartKey key) {
        return Partitions.ofText(definition + "/" + key.getClass().getSimpleName() + "/" + key.key());
    }

    // ---- requests

    /** The answers of all shards, in their order. If one does not answer in time, the exception names it. */
    <T> List<T> ask(Function<Store, T> question) {
        return ask(IntStream.range(0, size()).boxed().toList(), shard -> question.apply(store(shard)));
    }

    private <T> List<T> askWhatAnswers(List<Integer> some, Function<Integer, T> question) {
        if (some.size() == 1) {
            return List.of(question.apply(some.getFirst()));
        }
        List<CompletableFuture<T>> asked =
                some.stream().map(shard -> begin(() -> question.apply(shard))).toList();
        List<T> answers = new ArrayList<>();
        @Nullable StoreException silent = null;
        long until = System.nanoTime() + patience.toNanos();
        for (int i = 0; i < asked.size(); i++) {
            try {
                answers.add(answer(some.get(i), asked.get(i), until));
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
        if (shards.size() == 1) {
            return List.of(question.apply(shards.getFirst()));
        }
        List<CompletableFuture<T>> asked =
                shards.stream().map(shard -> begin(() -> question.apply(shard))).toList();
        List<T> answers = new ArrayList<>();
        long until = System.nanoTime() + patience.toNanos();
        for (int i = 0; i < asked.size(); i++) {
            answers.add(answer(shards.get(i), asked.get(i), until));
        }
        return answers;
    }

    /**
     * The answers of those shards that have some of these things and answer in time; throws only if none does. For those
     * who ask again and again.
     */
    <T, R> List<R> askOfSome(Collection<T> things, Function<T, Integer> shard, BiFunction<Store, List<T>, R> question) {
        Map<Integer, List<T>> divided = divide(things, shard);
        return askWhatAnswers(
                List.copyOf(divided.keySet()), one -> question.apply(store(one), divided.getOrDefault(one, List.of())));
    }

    /** Tells all shards something, one after the other. A shard that cannot be told ends that. */
    void tell(Consumer<Store> saying) {
        all.forEach(shard -> saying.accept(shard.store()));
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

    private <T> T answer(int shard, CompletableFuture<T> asked, long until) {
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
                            "Shard '%s' did not answer within %s.".formatted(name(shard), patience),
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
            case StoreException ofStore ->
                new StoreException(
                        ofStore.kind(), "Shard '%s': %s".formatted(name(shard), ofStore.getMessage()), ofStore);
            case Error error -> throw error;
            case RuntimeException other -> other;
            case null, default -> new IllegalStateException(cause);
        };
    }

    /** Things by the shard that has them, in their order. */
    <T> Map<Integer, List<T>> divide(Collection<T> things, Function<T, Integer> shard) {
        Map<Integer, List<T>> divided = new LinkedHashMap<>();
        things.forEach(thing -> divided.computeIfAbsent(shard.apply(thing), unseen -> new ArrayList<>())
                .add(thing));
        return divided;
    }
}
