package dev.perdure.shards.limit;

import dev.perdure.error.StoreException;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Need;
import dev.perdure.spi.shard.Places.Request;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;

/**
 * Asks other shards for places while something waits on a shard whose share is used up. Nobody asks while nothing waits.
 *
 * <p>How it works: a thread begins when a poll was held back by a limit, or a step waits for a permit. It asks, rests, longer
 * each time nothing has come, and ends when nothing waits at a share that is used up. If it dies with its process, another
 * process hears of the same. What a shard has sent is told by its total, so a question that is repeated does no harm. Each
 * question has a second, and is not asked again before it is answered: a shard that hangs does not keep others from giving
 * what they have. An answer that comes later takes effect, too.
 */
public final class PlaceRequests implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.shards");
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final Divisions divisions;
    private final IntFunction<Places> shards;
    private final List<String> names;
    private final List<Asker> askers;
    private final Set<Object> unanswered = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** The places of the shards, in their order, and their names. */
    public PlaceRequests(Divisions divisions, IntFunction<Places> shards, List<String> names) {
        this.divisions = divisions;
        this.shards = shards;
        this.names = List.copyOf(names);
        this.askers = IntStream.range(0, names.size()).mapToObj(Asker::new).toList();
    }

    /** Something waits on a shard, and a limit may be why. */
    public void waits(int shard) {
        if (names.size() > 1) {
            askers.get(shard).wake();
        }
    }

    /**
     * What a round of questions has shown.
     *
     * @param needs whether the shard needed anything
     * @param came how many places have come
     */
    record Round(boolean needs, int came) {}

    /** Asks for what a shard needs now. A shard that has not settled needs nothing yet, so it is settled first. */
    Round ask(int shard) {
        Places here = shards.apply(shard);
        here.shares().stream().filter(share -> !share.settled()).forEach(share -> complete(share.limit()));
        int all = 0;
        List<Need> needs = here.needs();
        for (Need need : needs) {
            int wanted = need.wanted();
            int has = need.places();
            for (int i = 1; i < names.size() && wanted > 0; i++) {
                int other = (shard + i) % names.size();
                int came = ask(shard, other, need, has, wanted);
                wanted -= came;
                has += came;
                all += came;
            }
        }
        return new Round(!needs.isEmpty(), all);
    }

    /** Goes on with a division whose process may have died. All shards have to answer; without them, other limits go on. */
    private void complete(Limit limit) {
        within(limit, () -> {
            divisions.complete(limit);
            return 0;
        });
    }

    /**
     * Two shards between which places go.
     *
     * @param to the shard that asks
     * @param from the shard that is asked
     */
    private record Way(int to, int from) {}

    private int ask(int shard, int other, Need need, int has, int wanted) {
        return within(new Way(shard, other), () -> {
            OptionalLong total = shards.apply(other)
                    .give(new Request(
                            need.limit(),
                            need.division(),
                            names.get(shard),
                            has,
                            wanted,
                            need.sent().getOrDefault(names.get(other), 0L)));
            if (total.isEmpty()) {
                complete(need.limit());
                return 0;
            }
            return shards.apply(shard).receive(need.limit(), need.division(), names.get(other), total.getAsLong());
        });
    }

    /**
     * The answer to a question that may take long; 0 if it has not come within a second, or if the same was asked before and
     * not answered yet.
     */
    private int within(Object what, Supplier<Integer> question) {
        if (!unanswered.add(what)) {
            return 0;
        }
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        Thread.ofVirtual().name("perdure-places-question").start(() -> {
            try {
                answer.complete(answered(what, question));
            } catch (RuntimeException | Error thrown) {
                answer.completeExceptionally(thrown);
            }
        });
        try {
            return answer.get(PATIENCE, TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            LOG.debug("{} is not answered yet.", what, late);
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case StoreException silent -> LOG.debug("{} is not answered.", what, silent);
                case RuntimeException other -> throw other;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(failed);
            }
        }
        return 0;
    }

    private int answered(Object what, Supplier<Integer> question) {
        try {
            return question.get();
        } finally {
            unanswered.remove(what);
        }
    }

    /** Asks for one shard. */
    private final class Asker {
        private final int shard;
        private final AtomicBoolean atWork = new AtomicBoolean();
        private final Semaphore end = new Semaphore(0);
        private volatile boolean again;

        Asker(int shard) {
            this.shard = shard;
        }

        void wake() {
            again = true;
            if (!closed && atWork.compareAndSet(false, true)) {
                Thread.ofVirtual().name("perdure-places-" + names.get(shard)).start(this::work);
            }
        }

        private void work() {
            long rest = SHORTEST;
            try {
                Round round = new Round(true, 0);
                while (!closed && (round.needs() || again)) {
                    again = false;
                    round = tried();
                    if (end.tryAcquire(rest, TimeUnit.NANOSECONDS)) {
                        return;
                    }
                    rest = round.came() > 0 ? SHORTEST : Math.min(LONGEST, 2 * rest);
                }
            } catch (InterruptedException unexpected) {
                Thread.currentThread().interrupt();
            } finally {
                atWork.set(false);
                if (again && !closed) {
                    wake();
                }
            }
        }

        private Round tried() {
            try {
                return ask(shard);
            } catch (StoreException trouble) {
                LOG.debug("Places of shard {} are not known.", names.get(shard), trouble);
            } catch (RuntimeException | Error thrown) {
                LOG.error(
                        "Shard '{}' cannot ask for places. It is tried again; fix the cause.",
                        names.get(shard),
                        thrown);
            }
            return new Round(false, 0);
        }
    }

    @Override
    public void close() {
        closed = true;
        askers.forEach(asker -> asker.end.release());
    }
}
