package dev.perdure.internal.failure;

import org.jspecify.annotations.Nullable;

/**
 * What arrived instead of a value.
 *
 * @param text in short, what happened
 * @param failure in full, if there is more to it
 */
public record FailedMail(String text, @Nullable Failure failure) {}
