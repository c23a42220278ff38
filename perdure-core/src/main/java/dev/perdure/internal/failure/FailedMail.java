package dev.perdure.internal.failure;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A failure that arrived instead of a value.
 *
 * @param text a short description
 * @param failure the whole failure, if there is one
 */
public record FailedMail(String text, @Nullable Failure failure) {
    /** Refuses what nobody has recorded. */
    public FailedMail {
        Objects.requireNonNull(text, "text");
    }
}
