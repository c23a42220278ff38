package dev.perdure.internal.execution.replay;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Journals;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pages of a long journal ahead. While the code replays a page, a thread reads the next ones, until two of
 * them wait. So at most two pages are in memory in addition to the current one.
 */
public final class ReadAhead implements IntFunction<Journals.Page> {
    private static final int AHEAD = 2;
    private static final int NOWHERE = -1;

    private final Clockwork clockwork;
    private final String run;
    private final IntFunction<Journals.Page> read;
    private final Clockwork.Signal arrived;

    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Journals.Page> ready = new ArrayDeque<>(AHEAD);
    /** The position up to which pages were read, if there are more. */
    private int readTo = NOWHERE;

    private boolean reading;
    private @Nullable Throwable trouble;

    public ReadAhead(Clockwork clockwork, String run, IntFunction<Journals.Page> read) {
        this.clockwork = clockwork;
        this.run = run;
        this.read = read;
        this.arrived = clockwork.signal();
    }

    /** The page after a position, which is the last position of the page before it. */
    @Override
    public Journals.Page apply(int after) {
        Journals.Page next = take(after);
        while (next == null) {
            Waiting.forSignal(arrived);
            next = take(after);
        }
        return next;
    }

    /** The next page, if it is there. Makes sure that a thread reads on. */
    private Journals.@Nullable Page take(int after) {
        lock.lock();
        try {
            Journals.Page next = ready.poll();
            if (next == null) {
                complain();
            }
            int from = next == null ? after : readTo;
            if (!reading && from != NOWHERE) {
                clockwork.fork("perdure-journal-" + run, () -> readFrom(from));
                reading = true;
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Throws what could not be read. The next call begins anew. */
    private void complain() {
        Throwable thrown = trouble;
        trouble = null;
        switch (thrown) {
            case null -> {}
            case Error broken -> throw broken;
            case RuntimeException unreachable -> throw unreachable;
            case Throwable checked -> throw new IllegalStateException("Reading throws nothing checked.", checked);
        }
    }

    private void readFrom(int after) {
        int from = after;
        while (from != NOWHERE) {
            try {
                from = keep(read.apply(from));
            } catch (Throwable thrown) { // Any error: the run that waits for the page has to handle it.
                failed(thrown);
                from = NOWHERE;
            }
            arrived.raise();
        }
    }

    /** Sets where to continue reading, if there is more. */
    private int keep(Journals.Page page) {
        lock.lock();
        try {
            ready.add(page);
            boolean more = !page.last() && !page.entries().isEmpty();
            readTo = more ? page.entries().getLast().entry().position() : NOWHERE;
            reading = more && ready.size() < AHEAD;
            return reading ? readTo : NOWHERE;
        } finally {
            lock.unlock();
        }
    }

    private void failed(Throwable thrown) {
        lock.lock();
        try {
            trouble = thrown;
            readTo = NOWHERE;
            reading = false;
        } finally {
            lock.unlock();
        }
    }
}
