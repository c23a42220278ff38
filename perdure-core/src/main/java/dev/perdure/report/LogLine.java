package dev.perdure.report;

import java.time.Instant;
import org.slf4j.event.Level;

/**
 * A log line that the body of a step has written.
 *
 * @param number its number, which grows from line to line of a run, and not always by one
 * @param step the name of the step
 * @param position the position of the step in the journal
 * @param attempt the number of the attempt, from 1
 * @param at when it was written, by the store's clock as its worker knows it
 * @param level its level
 * @param logger the name of its logger
 * @param text the message, and the stack trace if there is one
 */
public record LogLine(
        long number, String step, int position, int attempt, Instant at, Level level, String logger, String text) {}
