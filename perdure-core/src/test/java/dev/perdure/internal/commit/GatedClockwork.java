package dev.perdure.internal.commit;

import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** The system's clockwork, but a thread that was called wakes only when the test opens its gate. */
final class GatedClockwork implements Clockwork {
    private final Clockwork system = new SystemClockwork();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile Runnable meanwhile = () -> {};

    /** Keeps the thread of this name asleep, even if it is called, until {@link #open}. */
    void close(String thread) {
        gates.put(thread, new CountDownLatch(1));
    }

    void open(String thread) {
        gates.get(thread).countDown();
    }

    /** What happens while a thread gives way to others. */
    void meanwhile(Runnable what) {
        meanwhile = what;
    }

    /** How many threads wait to be called, or at their gate. */
    int waiting() {
        return waiting.get();
    }

    @Override
    public Instant now() {
        return system.now();
    }

    @Override
    public long nanoTime() {
        return system.nanoTime();
    }

    @Override
    public long random() {
        return system.random();
    }

    @Override
    public Signal signal() {
        Signal signal = system.signal();
        return new Signal() {
            @Override
            public void raise() {
                signal.raise();
            }

            @Override
            public boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException {
                waiting.incrementAndGet();
                try {
                    boolean raised = signal.await(timerNanos, housekeepingNanos);
                    CountDownLatch gate = gates.get(Thread.currentThread().getName());
                    if (gate != null) {
                        gate.await();
                    }
                    return raised;
                } finally {
                    waiting.decrementAndGet();
                }
            }
        };
    }

    @Override
    public void giveWay() {
        meanwhile.run();
    }

    @Override
    public void fork(String name, Runnable task) {
        system.fork(name, task);
    }

    @Override
    public void loop(String name, Runnable task) {
        system.loop(name, task);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        return system.alarm(delay, task);
    }
}
