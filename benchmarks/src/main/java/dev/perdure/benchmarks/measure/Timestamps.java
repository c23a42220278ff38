package dev.perdure.benchmarks.measure;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;

/**
 * The times when each of a number of events first happened, by the machine's clock, so that processes can compare them.
 */
public final class Timestamps {
    private final AtomicLongArray micros;
    private final CountDownLatch outstanding;

    public Timestamps(int count) {
        micros = new AtomicLongArray(count);
        outstanding = new CountDownLatch(count);
    }

    /** The current time, in microseconds since the epoch. */
    public static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** Records that the event with this number happens now, unless it has happened before. */
    public void note(int number) {
        if (micros.compareAndSet(number, 0, now())) {
            outstanding.countDown();
        }
    }

    /** Waits until all events have happened. */
    public void await() throws InterruptedException {
        outstanding.await();
    }

    /** All times in one line, by number. */
    public String line() {
        return Arrays.stream(values()).mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    private long[] values() {
        long[] values = new long[micros.length()];
        Arrays.setAll(values, micros::get);
        return values;
    }

    /** Reads such a line. */
    public static long[] parse(String line) {
        return Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
