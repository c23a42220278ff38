package dev.perdure.internal.failure;

/**
 * A failed attempt of a step.
 *
 * @param failure the failure
 * @param attempt the number of the attempt, from 1
 * @param delayMillis the delay before the next attempt; 0 if there is none
 *
 * @param failure how
 * @param attempt which, from 1
 * @param delayMillis how long to wait before the next; 0 when there is none
 */
public record FailedAttempt(Failure failure, int attempt, long delayMillis) {}
