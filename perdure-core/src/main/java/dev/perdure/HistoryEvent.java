package dev.perdure;

import java.time.Instant;

/**
 * One line of a run's history.
 *
 * @param at when it became durable, by the store's clock
 * @param position its position in the journal, or 0 for a change of state
 * @param what what happened, such as {@code STEP 'charge' VALUE}, {@code STEP 'charge' ATTEMPT: java.io.IOException: no route} or {@code SUSPENDED}
 */
public record HistoryEvent(Instant at, int position, String what) {
    /** An operator has settled an awakeable. For stores. */
    public static HistoryEvent answeredBy(String operator, Instant at, int position, boolean resolved) {
        return new HistoryEvent(
                at, position, "AWAKEABLE %s by operator '%s'".formatted(resolved ? "RESOLVED" : "REJECTED", operator));
    }
}
