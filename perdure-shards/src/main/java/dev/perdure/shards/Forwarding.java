package dev.perdure.shards;

import dev.perdure.error.StoreException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the forwarders of all shards work: at once after a batch of this process that has sent something, and from time to
 * time for what other processes have left behind.
 */
final class Forwarding implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.shards");
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(25);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);

    private final Shards shards;
    private final List<Forwarder> forwarders;
    private final List<Semaphore> signals;
    private final boolean atOnce;
    private volatile boolean closed;

    /**
     * Begins to work if there are several shards.
     *
     * @param atOnce whether a batch returns only when everything that it sent has arrived, for tests without an engine
     */
    Forwarding(Shards shards, boolean atOnce) {
        this.shards = shards;
        this.atOnce = atOnce;
        this.forwarders = IntStream.range(0, shards.size())
                .mapToObj(from -> new Forwarder(shards, from))
                .toList();
        this.signals = forwarders.stream().map(unused -> new Semaphore(0)).toList();
        for (int shard = 0; shard < shards.size() && shards.size() > 1 && !atOnce; shard++) {
            int from = shard;
            Thread.ofPlatform()
                    .daemon()
                    .name("perdure-forwarder-" + shards.name(shard))
                    .start(() -> loop(from));
        }
    }

    /** Something may be on its way from this shard. */
    void look(int shard) {
        if (atOnce) {
            settle();
        } else {
            signals.get(shard).release();
        }
    }

    /** Carries over everything, and what that sends in turn. */
    void settle() {
        int arrived;
        do {
            arrived = 0;
            for (Forwarder forwarder : forwarders) {
                arrived += forwarder.forward(new HashSet<>());
            }
        } while (arrived > 0);
    }

    private void loop(int shard) {
        long rest = SHORTEST;
        boolean troubled = false;
        while (!closed) {
            try {
                shards.follow(shard);
                Set<Integer> silent = new HashSet<>();
                int arrived = forwarders.get(shard).forward(silent);
                rest = arrived > 0 ? SHORTEST : Math.min(LONGEST, 2 * rest);
                troubled = false;
            } catch (StoreException trouble) {
                rest = LONGEST;
                LOG.debug("What is on its way from a shard waits until the shard answers.", trouble);
            } catch (RuntimeException | Error thrown) { // Without this loop, nothing would leave the shard any more.
                rest = LONGEST;
                if (!troubled) {
                    LOG.error(
                            "What is on its way between shards cannot be carried over. It is tried again; fix the cause.",
                            thrown);
                }
                troubled = true;
            }
            pause(signals.get(shard), rest);
        }
    }

    private static void pause(Semaphore signal, long nanos) {
        try {
            if (signal.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                signal.drainPermits();
            }
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed = true;
        signals.forEach(Semaphore::release);
    }
}
