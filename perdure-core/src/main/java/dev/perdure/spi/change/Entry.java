package dev.perdure.spi.change;

/**
 * One line of a journal. Its identity is position and note: a run's code takes a position per context call, in the order
 * of execution; under a position, note {@value #ANSWER} is the call's final answer and the notes from 1 are what happened
 * on the way to it (a sleep begun, an attempt failed). Neither is ever changed.
 *
 * @param position from 1, in the order of the calls
 * @param note 0 for the answer, 1 and more for the way to it
 * @param kind which call it was
 * @param name the call's name or parameter, as far as it is part of its meaning: compared on replay
 * @param status what came of it
 * @param payload the value or failure
 */
public record Entry(int position, int note, Kind kind, String name, Status status, Payload payload) {
    /** The note of the final answer. */
    public static final int ANSWER = 0;

    /** Which context call. */
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
        /** Which of several futures came first, under how they are joined. */
        CHOICE,
        /** A wait for a future. */
        AWAIT,
        /** Something done to the world outside, under what it is. */
        EFFECT,
        /** What a virtual object knew, under the value's name. */
        STATE,
        /** The names of all that a virtual object knew. */
        STATE_NAMES
    }

    /** What came of a call. */
    public enum Status {
        /** It gave the value in the payload. */
        VALUE,
        /** It failed for good; the payload is the failure. */
        FAILURE,
        /** It began and is not over: a sleep, a timer, a child. */
        BEGUN,
        /** An attempt failed and another will follow; the payload is the failure. */
        ATTEMPT,
        /** Instead of an answer, the cancel was delivered here. */
        CANCELLED,
        /** Instead of an answer, the run's deadline was delivered here. */
        DEADLINE,
        /** There was no value. */
        ABSENT
    }
}
