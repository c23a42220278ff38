package dev.perdure.internal.engine;

import dev.perdure.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/** The one rule for reasons that people give. */
final class Reasons {
    private static final int MAX_REASON = 1_000;

    private Reasons() {}

    static void require(@Nullable String reason) {
        if (reason == null
                || reason.length() > MAX_REASON
                || !reason.codePoints().allMatch(Reasons::storable)) {
            throw new InvalidRequestException(
                    "The reason is null, longer than %d characters, or holds U+0000 or half a surrogate pair. Shorten or clean it."
                            .formatted(MAX_REASON));
        }
    }

    private static boolean storable(int codePoint) {
        return codePoint != 0 && Character.getType(codePoint) != Character.SURROGATE;
    }
}
