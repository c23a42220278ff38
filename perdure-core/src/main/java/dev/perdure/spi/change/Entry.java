package dev.perdure.spi.change;

import dev.perdure.RunId;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * An entry of a journal, identified by position and note. Each context call of a run's code takes the next position, in
 * the order of execution. Note {@value #ANSWER} of a position is the final answer of the call. The notes from 1 record
 * what happened before it (a sleep began, an attempt failed). An entry never changes.
 *
 * @param position from 1, in the order of the calls
 * @param note 0 for the answer, 1 and more for what happened before it
 * @param kind the kind of call
 * @param name the call's name or parameter, which a replay compares with that of the code
 * @param status the outcome of the call
 * @param payload the value or failure
 */
public record Entry(int position, int note, Kind kind, String name, Status status, Payload payload) {
    /** The note of the final answer. */
    public static final int ANSWER = 0;

    /** The note of the headers of a mail that answers a call. Note 1 is that the call has begun. */
    public static final int HEADERS = 2;

    /** The kind of context call. */
    public enum Kind {
        /** A step, under its name. */
        STEP,
        /** A transaction step, under its name. */
        TRANSACTION,
        /** A sleep, under its duration. */
        SLEEP,
        /** The time. */
        NOW,
        /** A patch decision, under its id. */
        PATCH,
        /** A timer, under its duration. */
        TIMER,
        /** A message, under its topic. */
        RECEIVE,
        /** A child, under its definition. */
        CHILD,
        /** A promise, under its name. */
        PROMISE,
        /** An awakeable. */
        AWAKEABLE,
        /** An event, under its name and key. */
        EVENT,
        /** The future that settled first, under the name of the combinator. */
        CHOICE,
        /** A wait for a future. */
        AWAIT,
        /** An effect outside the run, under its kind. */
        EFFECT,
        /** A value of a virtual object, under its name. */
        STATE,
        /** The names of all values of a virtual object. */
        STATE_NAMES,
        /** A kind that this version does not know. Stores only read it: a newer version wrote it, or a person did. */
        UNKNOWN
    }

    /** The outcome of a call. */
    public enum Status {
        /** It returned the value in the payload. */
        VALUE,
        /** It failed finally; the payload is the failure. */
        FAILURE,
        /** It has begun and not ended: a sleep, a timer, a child. */
        BEGUN,
        /** An attempt failed and another follows; the payload is the failure. */
        ATTEMPT,
        /** It threw the cancel instead of returning an answer. */
        CANCELLED,
        /** It threw the run's deadline instead of returning an answer. */
        DEADLINE,
        /** There was no value. */
        ABSENT,
        /** What answers it came with headers; the payload is these, as lines {@code name=value}. */
        HEADERS,
        /** A status that this version does not know. Stores only read it: a newer version wrote it, or a person did. */
        UNKNOWN
    }

    /** The same with another payload. */
    public Entry with(Payload other) {
        return new Entry(position, note, kind, name, status, other);
    }

    /** The run that a call has started, if this is its first note: the payload begins with the id, up to a line break. */
    public Optional<RunId> started() {
        if (kind != Kind.CHILD || status != Status.BEGUN || payload.size() == 0) {
            return Optional.empty();
        }
        String written = new String(payload.bytes(), StandardCharsets.UTF_8);
        int end = written.indexOf('\n');
        return Optional.of(RunId.of(end < 0 ? written : written.substring(0, end)));
    }

    /** Whether this version knows what it says. */
    public boolean isKnown() {
        return kind != Kind.UNKNOWN && status != Status.UNKNOWN;
    }
}
