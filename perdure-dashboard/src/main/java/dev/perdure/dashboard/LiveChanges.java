package dev.perdure.dashboard;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.spi.report.EngineLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * Tells all open pages that something has changed, at most once a second. While a page is open, one thread asks the
 * store one cheap question a second for all pages together; without pages it asks nothing. Thread-safe.
 *
 * <p>A page that is told reads again what it shows. So that many pages cost the store no more than some, at most
 * {@value #MOST_TOLD} are told in a second: where more are open, they take turns.
 *
 * <p>A page that is told may get a costly answer that is a little older than the change. So the last change is told once
 * more when that answer is no longer shared.
 *
 * <p>A page that hears nothing for ten seconds says so. So a stream is silent while the store does not answer, and
 * otherwise sends a sign of life.
 */
final class LiveChanges implements AutoCloseable {
    static final Duration PERIOD = Duration.ofSeconds(1);
    private static final int SIGN_OF_LIFE = 4; // periods
    /** Periods after which the last change is told once more: longer than pages allow an answer to be old. */
    static final int ONCE_MORE = 35;

    private static final int MOST_STREAMS = 1_000;
    static final int MOST_TOLD = 10;
    private static final byte[] CHANGED = "event: changed\ndata: {}\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);
    private static final Logger LOG = EngineLog.of("dev.perdure.dashboard");

    private final Supplier<String> question;
    private final Duration period;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition turned = lock.newCondition();
    private final Condition wake = lock.newCondition();
    private String last = "";
    private long changes;
    private long answers;
    private long onceMore;
    private long opened;
    private int streams;
    private boolean closed;
    private boolean asking;

    /**
     * Changes that nobody follows yet.
     *
     * @param question a text that differs from the one before if something may have changed
     * @param period how long to wait before each question
     */
    LiveChanges(Supplier<String> question, Duration period) {
        this.question = question;
        this.period = period;
    }

    /** Whether one more page may listen. */
    boolean isFull() {
        lock.lock();
        try {
            return streams >= MOST_STREAMS;
        } finally {
            lock.unlock();
        }
    }

    /** Writes a stream of server-sent events for one page, until the page or this is closed. */
    void writeTo(ApiResponse.Sink sink) throws IOException, InterruptedException {
        Turn turn = enter();
        long seat = turn.opened();
        try {
            sink.send(ALIVE);
            long told = turn.changes();
            long sent = turn.answers();
            while (true) {
                turn = after(turn);
                if (turn.closed()) {
                    return;
                }
                if (turn.changes() != told && turn.isOf(seat)) {
                    sink.send(CHANGED);
                    told = turn.changes();
                    sent = turn.answers();
                } else if (turn.answers() - sent >= SIGN_OF_LIFE) {
                    sink.send(ALIVE);
                    sent = turn.answers();
                }
            }
        } finally {
            leave();
        }
    }

    /** How often something may have changed in the store. */
    long changes() {
        lock.lock();
        try {
            return changes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * What has happened up to now.
     *
     * @param answers how many answers the store has given
     * @param changes how many of them differed from the one before
     * @param opened how many streams were opened; for a new stream, its own number
     * @param streams how many of them are open
     * @param closed whether the streams end
     */
    private record Turn(long answers, long changes, long opened, int streams, boolean closed) {
        /** Whether the stream of this number is told now. */
        boolean isOf(long seat) {
            int rounds = Math.max(1, Math.ceilDiv(streams, MOST_TOLD));
            return (answers + seat) % rounds == 0;
        }
    }

    private Turn turn() {
        return new Turn(answers, changes, opened, streams, closed);
    }

    /** Waits for the next answer of the store. */
    private Turn after(Turn before) throws InterruptedException {
        lock.lock();
        try {
            while (!closed && answers == before.answers()) {
                turned.await();
            }
            return turn();
        } finally {
            lock.unlock();
        }
    }

    private Turn enter() {
        lock.lock();
        try {
            streams++;
            opened++;
            if (!asking && !closed) {
                asking = true;
                Thread.ofVirtual().name("perdure-dashboard-live").start(this::ask);
            }
            return turn();
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            streams--;
            wake.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void ask() {
        while (goesOn()) {
            String answer;
            try {
                answer = question.get();
            } catch (RuntimeException unanswered) { // the pages say that there is no news; the next turn asks again
                LOG.debug("The store did not answer the dashboard.", unanswered);
                continue;
            }
            lock.lock();
            try {
                answers++;
                if (!answer.equals(last)) {
                    last = answer;
                    changes++;
                    onceMore = answers + ONCE_MORE;
                } else if (answers == onceMore) {
                    changes++;
                }
                turned.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits for a period. Ends the thread when no page is open, so that idle dashboards cost nothing. */
    private boolean goesOn() {
        lock.lock();
        try {
            long left = period.toNanos();
            while (left > 0 && streams > 0 && !closed) {
                left = wake.awaitNanos(left);
            }
            if (streams > 0 && !closed) {
                return true;
            }
            asking = false;
            return false;
        } catch (InterruptedException ended) {
            asking = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a thread asks the store. */
    boolean isAsking() {
        lock.lock();
        try {
            return asking;
        } finally {
            lock.unlock();
        }
    }

    /** Ends all streams. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            turned.signalAll();
            wake.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
