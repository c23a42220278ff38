package dev.perdure.internal.failure;

/**
 * A step's attempt that failed.
 *
 * @param failure how
 * @param attempt which, from 1
 * @param delayMillis how long to wait before the next; 0 when there is none
 */
public record FailedAttempt(Failure failure, int attempt, long delayMillis) {}
