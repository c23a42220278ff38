package dev.perdure.report;

import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a step that has not ended reported last.
 *
 * @param step the name of the step
 * @param position its position in the journal
 * @param attempt the number of the attempt that reported it, from 1
 * @param fraction the part of the work that is done, from 0 to 1, if the attempt has said it
 * @param message what the attempt says about its progress; may be empty
 * @param at when it was written, by the store's clock: the time of the last heartbeat, to about a second
 */
public record StepProgress(
        String step, int position, int attempt, Optional<Double> fraction, String message, Instant at) {
    private static final Pattern BREAKS = Pattern.compile("\\R");

    /** The progress in one line, such as {@code 40 %, page 3 of 7}; empty if the attempt has only sent heartbeats. */
    public String text() {
        String percent = fraction.map(StepProgress::percent).orElse("");
        String said = BREAKS.matcher(message).replaceAll(" ");
        return percent.isEmpty() || said.isEmpty() ? percent + said : percent + ", " + said;
    }

    /** Says 100 % only at the end. */
    private static String percent(double fraction) {
        long rounded = Math.round(fraction * 100);
        return (fraction < 1 ? Math.min(rounded, 99) : rounded) + " %";
    }
}
