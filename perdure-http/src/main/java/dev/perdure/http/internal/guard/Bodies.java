package dev.perdure.http.internal.guard;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.internal.route.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads the bodies of requests, and bounds how much memory they take together: clients that send large bodies slowly
 * would otherwise hold as much as requests are under way. Thread-safe.
 *
 * <p>How it works: the first {@value #SMALL} bytes of a body are free, so that small requests get through while large
 * ones wait. A larger body takes all the room that it may need at once, and gives it back when its request has been
 * answered. No request waits for room while it holds some, so requests cannot block each other for ever.
 */
public final class Bodies {
    /** How many bodies of the greatest size there is room for. */
    static final int LARGE_BODIES = 16;

    /** How many bytes of a body are free. */
    static final int SMALL = 16 * 1024;

    private static final int UNIT = 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final int maxBytes;
    private final Duration patience;
    private final Semaphore room;

    /** Bodies of at most this many bytes. */
    public Bodies(int maxBytes) {
        this(maxBytes, PATIENCE);
    }

    Bodies(int maxBytes, Duration patience) {
        this.maxBytes = maxBytes;
        this.patience = patience;
        this.room = new Semaphore(Math.multiplyExact(LARGE_BODIES, units(maxBytes)), true);
    }

    /** A body that takes room until it is closed. */
    public final class Held implements AutoCloseable {
        private final byte[] bytes;
        private int units;

        private Held(byte[] bytes, int units) {
            this.bytes = bytes;
            this.units = units;
        }

        /** The bytes. */
        public byte[] bytes() {
            return bytes;
        }

        @Override
        public void close() {
            room.release(units);
            units = 0;
        }
    }

    /** Reads what is enough to refuse a body that a route does not take. */
    public Held none(ApiRequest request) {
        return new Held(read(request.body(), 1), 0);
    }

    /** Reads a body. */
    public Held all(ApiRequest request) throws InterruptedException {
        byte[] first = read(request.body(), Math.min(SMALL, maxBytes) + 1);
        if (first.length <= Math.min(SMALL, maxBytes)) {
            return new Held(first, 0);
        }
        int wanted = units(Math.min(maxBytes, announced(request)));
        if (first.length > maxBytes || announced(request) > maxBytes) {
            throw tooLarge();
        }
        if (!room.tryAcquire(wanted, patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new Problem(503, "Busy", "Too many large bodies arrive at once. Try again in a moment.");
        }
        try {
            byte[] rest = read(request.body(), maxBytes + 1 - first.length);
            if (first.length + rest.length > maxBytes) {
                throw tooLarge();
            }
            byte[] body = Arrays.copyOf(first, first.length + rest.length);
            System.arraycopy(rest, 0, body, first.length, rest.length);
            int used = Math.min(wanted, units(body.length));
            room.release(wanted - used);
            wanted = 0; // the body has it
            return new Held(body, used);
        } finally {
            room.release(wanted);
        }
    }

    /** What the client says about the length; the greatest if it says nothing. A server reads no more than it says. */
    private long announced(ApiRequest request) {
        try {
            return request.header("Content-Length").map(Long::parseLong).orElse((long) maxBytes);
        } catch (NumberFormatException noLength) {
            return maxBytes;
        }
    }

    private static byte[] read(InputStream body, int most) {
        try {
            return body.readNBytes(most);
        } catch (IOException cut) {
            throw new Problem(
                    408, "BodyIncomplete", "The body did not arrive in time, or not as a whole. Send it again.");
        }
    }

    private Problem tooLarge() {
        return new Problem(
                413,
                "BodyTooLarge",
                "The body has more than %s bytes. Send less, or raise maxBodyBytes.".formatted(maxBytes));
    }

    private static int units(long bytes) {
        return Math.toIntExact((bytes + UNIT - 1) / UNIT);
    }
}
