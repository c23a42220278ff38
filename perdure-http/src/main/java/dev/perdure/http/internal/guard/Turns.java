package dev.perdure.http.internal.guard;

import dev.perdure.http.internal.route.Problem;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how many requests ask the store at once, so that callers of the API do not take the connections that the engine
 * needs. A request that waits for a run has no turn while it waits: the engine asks for all waiting callers together.
 * Thread-safe.
 */
public final class Turns {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Semaphore atOnce;
    private final Semaphore waiting;

    /**
     * Bounds.
     *
     * @param atOnce how many requests ask the store at once
     * @param waiting how many requests wait for runs at once
     */
    public Turns(int atOnce, int waiting) {
        this.atOnce = new Semaphore(atOnce, true);
        this.waiting = new Semaphore(waiting);
    }

    /** Something that asks the store. */
    @FunctionalInterface
    public interface Question<T> {
        /** Asks. */
        T ask() throws InterruptedException;
    }

    /** Asks with a turn. */
    public <T> T with(Question<T> question) throws InterruptedException {
        if (!atOnce.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw busy("Too many requests ask the store at once.");
        }
        try {
            return question.ask();
        } finally {
            atOnce.release();
        }
    }

    /** Waits without the turn that this request has. */
    public <T> T waiting(Question<T> question) throws InterruptedException {
        if (!waiting.tryAcquire()) {
            throw busy("Too many requests wait for runs at once.");
        }
        atOnce.release();
        try {
            return question.ask();
        } finally {
            waiting.release();
            atOnce.acquireUninterruptibly();
        }
    }

    /** Something that writes a stream. */
    @FunctionalInterface
    public interface Stream {
        /** Writes it. */
        void write() throws IOException, InterruptedException;
    }

    /** Refuses a request that would have to wait, before it is answered. */
    public void requireRoom() {
        if (waiting.availablePermits() == 0) {
            throw busy("Too many requests wait for runs at once.");
        }
    }

    /** Writes a stream, which has no turn. If there is no room, the stream ends at once, and the client tries again. */
    public void streaming(Stream stream) throws IOException, InterruptedException {
        if (!waiting.tryAcquire()) {
            return;
        }
        try {
            stream.write();
        } finally {
            waiting.release();
        }
    }

    private static Problem busy(String why) {
        return new Problem(503, "Busy", why + " Try again in a moment.");
    }
}
