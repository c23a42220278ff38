package dev.perdure;

import java.time.Instant;
import java.util.Optional;

/**
 * One event of a run's history: an entry of its journal, a change of its state, or an answer by an operator.
 *
 * @param kind what the event is about
 * @param name the name of the step, topic, promise, child definition or effect, or the duration of the sleep or timer;
 *     of a change of state, the state; of an answer, the operator
 * @param status what happened
 * @param position the position in the journal; 0 for a change of state
 * @param attempt which attempt of a step or transaction it was, from 1; 0 for everything else
 * @param at when it became durable, by the store's clock
 * @param nextAttemptAt when the next attempt is due, if this one failed and another follows after a delay
 * @param reason what the attempt or the step failed with, or why the run is in this state
 */
public record HistoryEvent(
        Kind kind,
        String name,
        Status status,
        int position,
        int attempt,
        Instant at,
        Optional<Instant> nextAttemptAt,
        Optional<String> reason) {
    /** What an event is about. */
    public enum Kind {
        /** The run itself has changed its state. */
        RUN,
        /** An operator has answered the awakeable at this position. */
        ANSWER,
        /** A step. */
        STEP,
        /** A transaction step. */
        TRANSACTION,
        /** A sleep. */
        SLEEP,
        /** The run asked for the time. */
        NOW,
        /** A patch decision. */
        PATCH,
        /** A timer. */
        TIMER,
        /** A message. */
        RECEIVE,
        /** A child. */
        CHILD,
        /** A promise. */
        PROMISE,
        /** An awakeable. */
        AWAKEABLE,
        /** An event that the run waits for. */
        EVENT,
        /** Which of several joined futures came first. */
        CHOICE,
        /** A wait for a future. */
        AWAIT,
        /** An effect outside the run: a message, an answer, a published value. */
        EFFECT,
        /** The run read a value of a virtual object. */
        STATE,
        /** The run read the names of all values of a virtual object. */
        STATE_NAMES
    }

    /** What happened. */
    public enum Status {
        /** The run has entered the state that is the name. */
        ENTERED,
        /** The operator has resolved the awakeable. */
        RESOLVED,
        /** The operator has rejected the awakeable. */
        REJECTED,
        /** It returned a value. */
        VALUE,
        /** It failed, and no attempt follows. */
        FAILURE,
        /** It has begun and not ended. */
        BEGUN,
        /** An attempt failed, and another follows. */
        ATTEMPT,
        /** The cancel of the run was delivered here. */
        CANCELLED,
        /** The deadline of the run was delivered here. */
        DEADLINE,
        /** There was no value. */
        ABSENT
    }

    /**
     * The event in a line, such as {@code STEP 'charge' ATTEMPT: java.io.IOException: no route} or {@code SUSPENDED}.
     */
    public String text() {
        String what = switch (kind) {
            case RUN -> name;
            case ANSWER -> "AWAKEABLE %s by operator '%s'".formatted(status, name);
            default -> "%s '%s' %s".formatted(kind, name, status);
        };
        return reason.map(why -> what + ": " + why).orElse(what);
    }
}
