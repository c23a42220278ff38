package dev.perdure.postgres;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps the time for whoever waits for something on a socket, one at a time, and closes the socket when he has waited for too long.
 *
 * <p>How it works: a virtual thread that waits with a timeout wakes the one that keeps the time, for every wait. So here waits have none;
 * while there are any, a thread of their own looks once in a while whether it is still the same. It counts how often it has
 * looked, not what the clock says: a process that was stopped has not waited.
 */
final class Vigil {
    private static final long GIVEN_UP = -1;

    private final Socket socket;
    private final Duration turn;
    /** Odd while somebody waits, even otherwise, and another number each time. */
    private final AtomicLong waits = new AtomicLong();

    private final AtomicBoolean looking = new AtomicBoolean();
    private volatile int turns;

    Vigil(Socket socket, Duration turn) {
        this.socket = socket;
        this.turn = turn;
    }

    /** How long a wait may last, in whole turns; it is given up one to two turns after that. */
    void allow(Duration limit) {
        turns = (int) Math.ceilDiv(limit.toNanos(), turn.toNanos()); // a division of durations goes by way of decimals
    }

    /** A wait begins. */
    void begin() {
        waits.incrementAndGet();
        if (!looking.get() && looking.compareAndSet(false, true)) {
            Thread.ofVirtual().name("perdure-vigil").start(this::look);
        }
    }

    /** It is over. If it has been given up just before, nothing that came can be trusted to be all: the socket is closed. */
    void end() throws SocketTimeoutException {
        long wait = waits.get();
        if (wait == GIVEN_UP || !waits.compareAndSet(wait, wait + 1)) {
            throw new SocketTimeoutException("Nothing has come for %s.".formatted(turn.multipliedBy(turns)));
        }
    }

    private static boolean isSomebodyWaiting(long wait) {
        return wait % 2 == 1;
    }

    private void look() {
        do {
            for (long wait = waits.get(); isSomebodyWaiting(wait); wait = waits.get()) {
                watchUntilOver(wait);
            }
            looking.set(false);
            // Whoever began before that has relied on this thread.
        } while (isSomebodyWaiting(waits.get()) && looking.compareAndSet(false, true));
    }

    private void watchUntilOver(long wait) {
        for (int looks = 0; waits.get() == wait; looks++) {
            if (looks > turns && waits.compareAndSet(wait, GIVEN_UP)) {
                close();
                return;
            }
            pause();
        }
    }

    private void pause() {
        try {
            Thread.sleep(turn);
        } catch (InterruptedException e) {
            // Nobody has this thread, to interrupt it.
        }
    }

    private void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // It was to be thrown away anyhow.
        }
    }
}
