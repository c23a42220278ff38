package dev.perdure;

import java.time.Instant;
import java.util.Locale;
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
 * @param reason what the attempt or the step failed with, why the run is in this state, the progress, or the headers, one
 *     {@code name=value} in each line
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
        /** An effect: a message, an answer, a published value, an attribute, the status. */
        EFFECT,
        /** The run read a value of a virtual object. */
        STATE,
        /** The run read the names of all values of a virtual object. */
        STATE_NAMES,
        /** Something that this version of the library does not know: a newer version recorded it, or a person did. */
        UNKNOWN
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
        ABSENT,
        /** Interceptors of the sender gave headers to the message, the event or the answer that the run received. */
        HEADERS,
        /** An attempt reported its progress: the last report of one that failed, or of one that has not ended. */
        PROGRESS,
        /** Something that this version of the library does not know: a newer version recorded it, or a person did. */
        UNKNOWN
    }

    /**
     * The event in plain words and one line, such as {@code attempt 1 of step 'charge' failed: java.io.IOException: no
     * route} or {@code run is SUSPENDED}.
     */
    public String text() {
        return reason.map(why -> happened() + ": " + why.replace("\n", ", ")).orElse(happened());
    }

    private String happened() {
        return switch (status) {
            case ENTERED -> "run is " + name;
            case RESOLVED -> "operator '%s' resolved the awakeable".formatted(name);
            case REJECTED -> "operator '%s' rejected the awakeable".formatted(name);
            case VALUE -> answered();
            case BEGUN -> begun();
            case ATTEMPT -> "attempt %s of %s failed".formatted(attempt, subject());
            case FAILURE -> failed();
            case HEADERS -> subject() + " came with headers";
            case PROGRESS -> "attempt %s of %s reported".formatted(attempt, subject());
            case CANCELLED -> subject() + " ended, because the run was cancelled";
            case DEADLINE -> subject() + " ended, because the deadline of the run passed";
            case UNKNOWN -> subject() + " recorded something that this version does not know";
            case ABSENT -> kind == Kind.STATE ? subject() + " read: it has no value" : subject() + " had no value";
        };
    }

    private String answered() {
        return switch (kind) {
            case STEP, TRANSACTION -> subject() + " completed" + (attempt > 1 ? " at attempt " + attempt : "");
            case CHILD -> subject() + " completed";
            case RECEIVE, EVENT -> subject() + " received";
            case PROMISE, AWAKEABLE -> subject() + " resolved";
            case NOW, STATE, STATE_NAMES -> subject() + " read";
            case SLEEP, TIMER, AWAIT -> subject() + " ended";
            case PATCH -> subject() + " applies";
            case CHOICE -> subject() + " decided";
            case EFFECT, RUN, ANSWER, UNKNOWN -> subject();
        };
    }

    private String begun() {
        return switch (kind) {
            case CHILD -> subject() + " started";
            case AWAKEABLE -> subject() + " created";
            case RECEIVE, EVENT, PROMISE -> "wait for " + subject() + " began";
            default -> subject() + " began";
        };
    }

    private String failed() {
        return switch (kind) {
            case STEP, TRANSACTION -> "%s failed at attempt %s and is not tried again".formatted(subject(), attempt);
            case PROMISE, AWAKEABLE -> subject() + " rejected";
            default -> subject() + " failed";
        };
    }

    private String subject() {
        return switch (kind) {
            case RUN -> "run";
            case AWAKEABLE, ANSWER -> "awakeable";
            case NOW -> "time";
            case AWAIT -> "wait for a future";
            case STATE_NAMES -> "names of all state";
            case RECEIVE -> "message '%s'".formatted(name);
            case SLEEP, TIMER -> "%s of %s".formatted(kind.name().toLowerCase(Locale.ROOT), name);
            case EFFECT -> name;
            case UNKNOWN -> "a call that this version does not know";
            case STEP, TRANSACTION, PATCH, CHILD, PROMISE, EVENT, CHOICE, STATE ->
                "%s '%s'".formatted(kind.name().toLowerCase(Locale.ROOT), name);
        };
    }
}
