package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunConflictException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.StartField;
import java.time.Duration;

/**
 * A key for starts. While a run has the key, the key decides what a second start under it does. It belongs to a
 * definition: the same text under another workflow, or of another kind, is another key.
 *
 * <pre>{@code
 * perdure.start(Reports::build, customer, under(deduplicate("report-" + customer)));
 * perdure.start(Payments::pay, payment, under(idempotencyKey(request, Duration.ofHours(24))));
 * perdure.start(Search::index, page, under(debounce(page, Duration.ofSeconds(5), Duration.ofMinutes(1))));
 * }</pre>
 *
 * <p>The store checks the key in the transaction that starts the run, so if several processes start at once, one of
 * them is the first. The engine generates the id of the run; a start with a key cannot have an id as well.
 */
public sealed interface StartKey {
    /** The most characters of a key. */
    int MAX_LENGTH = 200;

    /** The key. */
    String key();

    /** One run under this key that has not ended; a second start attaches to it. */
    static Deduplication deduplicate(String key) {
        return new Deduplication(key, Until.ENDED, Duplicate.ATTACH);
    }

    /** One run under this key within the time to live, which begins with the first start. */
    static IdempotencyKey idempotencyKey(String key, Duration timeToLive) {
        return new IdempotencyKey(key, timeToLive);
    }

    /**
     * One run for all starts under this key that follow each other within the quiet time. The run has the input of the
     * last start. It begins when the quiet time after the last start is over, but no later than the longest wait after
     * the first start.
     */
    static Debounce debounce(String key, Duration quiet, Duration longestWait) {
        return new Debounce(key, quiet, longestWait);
    }

    /** When a run gives up its key. */
    enum Until {
        /** When a worker takes it for the first time. */
        BEGUN,
        /** When it has ended. */
        ENDED
    }

    /** What a second start does while a run has the key. */
    enum Duplicate {
        /** Attaches to that run. */
        ATTACH,
        /** Throws {@link RunConflictException}, which names that run. */
        REFUSE,
        /** Cancels that run and starts another in its place, which begins when that one has ended. */
        REPLACE
    }

    /**
     * One run at a time.
     *
     * @param key the key
     * @param until when the run gives it up
     * @param duplicate what a second start does
     */
    record Deduplication(String key, Until until, Duplicate duplicate) implements StartKey {
        /** Checks the key. */
        public Deduplication {
            Names.require("deduplication key", key, MAX_LENGTH);
        }

        /** The run has the key until it begins. */
        public Deduplication untilBegun() {
            return new Deduplication(key, Until.BEGUN, duplicate);
        }

        /** The run has the key until it has ended. */
        public Deduplication untilEnded() {
            return new Deduplication(key, Until.ENDED, duplicate);
        }

        /** A second start attaches to the run. */
        public Deduplication attach() {
            return new Deduplication(key, until, Duplicate.ATTACH);
        }

        /** A second start throws {@link RunConflictException}. */
        public Deduplication refuse() {
            return new Deduplication(key, until, Duplicate.REFUSE);
        }

        /** A second start cancels the run and starts another. */
        public Deduplication replace() {
            return new Deduplication(key, until, Duplicate.REPLACE);
        }
    }

    /**
     * One run within a time, whether it has ended or not.
     *
     * @param key the key
     * @param timeToLive how long the run has it
     */
    record IdempotencyKey(String key, Duration timeToLive) implements StartKey {
        /** Checks key and time. */
        public IdempotencyKey {
            Names.require("idempotency key", key, MAX_LENGTH);
            StartField.requireTime("time to live of the idempotency key '%s'".formatted(key), timeToLive);
        }
    }

    /**
     * One run for many starts.
     *
     * @param key the key
     * @param quiet how long the run waits for another start before it begins
     * @param longestWait how long the run waits after the first start at most
     */
    record Debounce(String key, Duration quiet, Duration longestWait) implements StartKey {
        /** Checks key and times. */
        public Debounce {
            Names.require("debounce key", key, MAX_LENGTH);
            StartField.requireTime("quiet time of the debounce key '%s'".formatted(key), quiet);
            StartField.requireTime("longest wait of the debounce key '%s'".formatted(key), longestWait);
            if (longestWait.compareTo(quiet) < 0) {
                throw new InvalidRequestException(
                        "The longest wait of the debounce key '%s' is %s, which is shorter than the quiet time %s. Make it at least as long."
                                .formatted(key, longestWait, quiet));
            }
        }
    }
}
