package dev.perdure.internal.failure;

/**
 * A failed attempt of a step.
 *
 * @param failure the failure
 * @param attempt the number of the attempt, from 1
 * @param delayMillis the delay before the next attempt; 0 if there is none
 */
public record FailedAttempt(Failure failure, int attempt, long delayMillis) {}
