package dev.perdure.benchmarks.measure;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;

/** When each of a number of things happened first, by the machine's clock, so that processes can compare. */
public final class Moments {
    private final AtomicLongArray micros;
    private final CountDownLatch open;

    public Moments(int count) {
        micros = new AtomicLongArray(count);
        open = new CountDownLatch(count);
    }

    /** Now, in microseconds. */
    public static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** It happens now. */
    public void note(int number) {
        if (micros.compareAndSet(number, 0, now())) {
            open.countDown();
        }
    }

    /** Waits until everything has happened. */
    public void await() throws InterruptedException {
        open.await();
    }

    /** In a line, by number. */
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
