package dev.perdure.shards;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.spi.shard.Exchange.Look;
import dev.perdure.spi.shard.Exchange.Outgoing;
import dev.perdure.spi.shard.Parts;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;

/**
 * Lets the forwarders work: at once after a batch of this process that has kept something for another shard, and from time to
 * time for what other processes have left behind.
 *
 * <p>How it works. For each shard one loop reads what the shard keeps for all others with one query, and hands it to the
 * forwarders, each of which has a thread while it works. What is for a shard whose forwarder is at work is not read. So a
 * shard that does not answer keeps its own forwarder, and nothing else, from working.
 */
final class Forwarding implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.shards");
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(25);
    /** Idle processes ask every shard so often, so it is seldom: hints and refusals tell of what is urgent. */
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(2_500);
    /** While something waits for a partition that moves: its runs stand still for about so long. */
    private static final long LONGEST_WHILE_MOVING = TimeUnit.MILLISECONDS.toNanos(250);

    private final Shards shards;
    private final List<Sender> senders;
    private final List<Hints.Subscription> subscriptions = new ArrayList<>();
    private final boolean atOnce;
    private final IntConsumer awaited;
    private volatile boolean closed;

    /**
     * The forwarders of these shards.
     *
     * @param atOnce whether a batch returns only when everything that it sent has arrived, for tests without an engine
     * @param awaited is told of a shard on which permits are waited for: the process that asks other shards for them may have died
     */
    Forwarding(Shards shards, boolean atOnce, IntConsumer awaited) {
        this.awaited = awaited;
        this.shards = shards;
        this.atOnce = atOnce;
        this.senders = IntStream.range(0, shards.size()).mapToObj(Sender::new).toList();
    }

    /** Begins to work if there are several shards, or have been. */
    void start() {
        if (shards.haveBeenSeveral() && !atOnce) {
            // What is kept for a partition that has come here goes on at once: newer mail does not wait for it.
            subscriptions.add(shards.onNewMap(() -> senders.forEach(sender -> sender.signal.release())));
            senders.forEach(Sender::start);
        }
    }

    /** Something was applied that may have sent something. */
    void applied() {
        if (shards.haveBeenSeveral() && atOnce) {
            settle();
        }
    }

    /** Carries over everything, and what that sends in turn. */
    private void settle() {
        int arrived;
        do {
            arrived = senders.stream().mapToInt(Sender::forward).sum();
        } while (arrived > 0);
    }

    /**
     * Carries over what is on its way from this shard now. Throws an exception that names the shard that does not take it, or
     * this one if something stays that this version cannot read. Returns the runs that have started others in partitions that
     * move: these starts stay, too.
     */
    Set<RunRef> settle(int shard) {
        List<Forwarder.Left> left = senders.get(shard).forwardAll();
        if (left.stream().anyMatch(Forwarder.Left::unreadable)) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "Shard '%s' has sent something that this version cannot read. Repeat this with a process of the newer version."
                            .formatted(shards.name(shard)),
                    null);
        }
        return left.stream().flatMap(each -> each.parents().stream()).collect(Collectors.toSet());
    }

    /** A shard from which things go to the others. */
    private final class Sender {
        private final int from;
        private final List<Forwarder> forwarders;
        private final Semaphore signal = new Semaphore(0);
        /** How often the store has said that it keeps something more. */
        private final AtomicLong kept = new AtomicLong();

        private final Set<Integer> atWork = ConcurrentHashMap.newKeySet();
        private final Set<Integer> troubled = ConcurrentHashMap.newKeySet();

        Sender(int from) {
            this.from = from;
            this.forwarders = IntStream.range(0, shards.size())
                    .mapToObj(to -> new Forwarder(shards, from, to))
                    .toList();
        }

        void start() {
            subscriptions.add(shards.store(from).hints().subscribe(this::hear));
            Thread.ofPlatform()
                    .daemon()
                    .name("perdure-forwarder-" + shards.name(from))
                    .start(this::loop);
        }

        private void hear(Hints.Hint hint) {
            if (hint instanceof Hints.OutgoingKept) {
                kept.incrementAndGet();
                signal.release();
            }
            if (hint instanceof Hints.PartitionsMoved) {
                signal.release();
            }
        }

        int forward() {
            return shards.ask(shards.indexes(), to -> forwarders.get(to).forward()).stream()
                    .mapToInt(Integer::intValue)
                    .sum();
        }

        List<Forwarder.Left> forwardAll() {
            return shards.ask(shards.indexes(), to -> forwarders.get(to).forwardAll());
        }

        private void loop() {
            long rest = SHORTEST;
            while (!closed) {
                try {
                    distribute();
                    troubled.remove(from);
                } catch (StoreException trouble) {
                    LOG.debug("What is on its way from shard {} waits until the shard answers.", name(from), trouble);
                } catch (RuntimeException
                        | Error thrown) { // Without this loop, nothing would leave the shard any more.
                    report(from, thrown);
                }
                boolean waits = forwarders.stream().anyMatch(Forwarder::waits);
                rest = signalled(rest) ? SHORTEST : Math.min(waits ? LONGEST_WHILE_MOVING : LONGEST, 2 * rest);
            }
        }

        /** Hands what is there to the forwarders that are not at work, and follows the map of the shard. */
        private void distribute() {
            boolean more = true;
            while (more) {
                long keptBefore = kept.get();
                Set<Integer> occupied = Set.copyOf(atWork);
                int version = shards.version();
                List<Integer> partitions = shards.partitions(to -> !occupied.contains(to));
                Look look = shards.look(from, partitions, Forwarder.BATCH);
                if (look.version() > version) {
                    shards.follow(from);
                    continue;
                }
                if (look.permitsAreAwaited()) {
                    awaited.accept(from);
                }
                List<Outgoing> some = look.outgoing();
                boolean full = some.size() == Forwarder.BATCH;
                Parts.divide(some, each -> shards.ofPartition(each.partition()))
                        .forEach((to, first) -> begin(to, first, full, version, keptBefore));
                more = full;
            }
        }

        /** Lets a forwarder work, and looks again afterwards if there may be more: nothing is read for it meanwhile. */
        private void begin(int to, List<Outgoing> first, boolean more, int version, long keptBefore) {
            atWork.add(to);
            Thread.ofVirtual()
                    .name("perdure-forwarder-" + name(from) + "-" + name(to))
                    .start(() -> {
                        boolean left = false;
                        boolean reached = false;
                        try {
                            int arrived = forwarders.get(to).forward(first, more, version);
                            left = arrived > 0 && (more || arrived < first.size());
                            reached = true;
                            troubled.remove(to);
                        } catch (StoreException trouble) {
                            LOG.debug("What is on its way to shard {} waits until it answers.", name(to), trouble);
                        } catch (RuntimeException | Error thrown) {
                            report(to, thrown);
                        } finally {
                            atWork.remove(to);
                            if (left || (reached && kept.get() != keptBefore)) {
                                signal.release();
                            }
                        }
                    });
        }

        private void report(int shard, Throwable thrown) {
            if (!closed && troubled.add(shard)) {
                LOG.error(
                        "What is on its way from shard '{}' cannot be carried over to shard '{}'. It is tried again; fix the cause.",
                        name(from),
                        name(shard),
                        thrown);
            }
        }

        private String name(int shard) {
            return shards.name(shard);
        }

        private boolean signalled(long nanos) {
            try {
                boolean signalled = signal.tryAcquire(nanos, TimeUnit.NANOSECONDS);
                signal.drainPermits();
                return signalled;
            } catch (InterruptedException unexpected) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        subscriptions.forEach(Hints.Subscription::close);
        senders.forEach(sender -> sender.signal.release());
    }
}
