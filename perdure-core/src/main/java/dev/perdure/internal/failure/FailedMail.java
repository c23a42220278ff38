package dev.perdure.internal.failure;

import org.jspecify.annotations.Nullable;

/**
 * A failure that arrived instead of a value.
 *
 * @param text a short description
 * @param failure the whole failure, if there is one
 */
public record FailedMail(String text, @Nullable Failure failure) {}
