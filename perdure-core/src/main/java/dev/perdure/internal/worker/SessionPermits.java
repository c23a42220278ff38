package dev.perdure.internal.worker;

import dev.perdure.error.StoreException;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * The permits of the runs of one {@link Session}. Requests that come together share a round trip. When a step has given
 * its permit back, a thread of its own tells the store, so that the next run goes on at once; if that fails, the next
 * poll does it.
 */
final class SessionPermits {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");

    private final Permits permits;
    private final Clockwork clockwork;
    private final SharedRequests<Request, Answer> requests;
    private final Set<String> free = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean telling = new AtomicBoolean();
    /** Limiters of steps whose record may come only with the end of their run. */
    private final Map<Long, Set<String>> used = new ConcurrentHashMap<>();

    SessionPermits(Permits permits, Clockwork clockwork, WorkerId worker) {
        this.permits = permits;
        this.clockwork = clockwork;
        this.requests = new SharedRequests<>(batch -> permits.take(worker, batch), clockwork);
    }

    /**
     * Whether the attempt holds a permit now. A limiter that no process has declared is declared by its first use. Fails if the
     * run is about to move: an attempt without a place in the line must not wait for its turn.
     */
    boolean take(Limiter limiter, Request request) {
        Answer answer = requests.ask(request);
        while (answer == Answer.UNKNOWN) {
            permits.declare(List.of(limiter));
            answer = requests.ask(request);
        }
        if (answer == Answer.MOVING) {
            throw new StoreException(
                    StoreException.Kind.MOVING,
                    "The partition of '%s' moves to another shard, and its step at position %s asks again for a permit of '%s'."
                            .formatted(request.run().id(), request.position(), limiter.name()),
                    null);
        }
        if (answer == Answer.HELD && limiter.concurrency().isPresent()) {
            used.computeIfAbsent(request.run().key(), unseen -> ConcurrentHashMap.newKeySet())
                    .add(limiter.name());
        }
        return answer == Answer.HELD;
    }

    /** An attempt has been recorded, and its permit is free. */
    void freed(String limiter) {
        tell(Set.of(limiter));
    }

    /** A run has left memory, and holds no permits any more. */
    void left(long run) {
        Set<String> limiters = used.remove(run);
        if (limiters != null) {
            tell(limiters);
        }
    }

    private void tell(Set<String> limiters) {
        free.addAll(limiters);
        if (telling.compareAndSet(false, true)) {
            clockwork.fork("perdure-permits", this::tellAll);
        }
    }

    private void tellAll() {
        do {
            try {
                Set<String> now = Set.copyOf(free);
                free.removeAll(now);
                permits.next(now);
            } catch (RuntimeException later) {
                LOG.debug("Could not pass permits on; the next poll does.", later);
            } finally {
                telling.set(false);
            }
        } while (!free.isEmpty() && telling.compareAndSet(false, true));
    }
}
