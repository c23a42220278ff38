package dev.perdure.internal.execution;

import dev.perdure.InvalidRequestException;
import org.jspecify.annotations.Nullable;

/** The rules for texts that people give. */
public final class Texts {
    private static final int MAX_NAME = 200;
    private static final int MAX_REASON = 1_000;

    private Texts() {}

    /** What something goes by. */
    public static void requireName(String what, @Nullable String name) {
        if (name == null || name.isEmpty() || name.length() > MAX_NAME || !isPlain(name)) {
            throw new InvalidRequestException(
                    "The %s is null, empty, longer than %d characters or has control characters or half a surrogate pair. Give it a short, constant text."
                            .formatted(what, MAX_NAME));
        }
    }

    /** Why something is to happen. */
    public static void requireReason(@Nullable String reason) {
        if (reason == null
                || reason.length() > MAX_REASON
                || !reason.codePoints().allMatch(point -> point != 0 && isWhole(point))) {
            throw new InvalidRequestException(
                    "The reason is null, longer than %d characters, or holds U+0000 or half a surrogate pair. Shorten or clean it."
                            .formatted(MAX_REASON));
        }
    }

    /** Whether it has neither control characters nor halves of characters. Steps are named on every replay, so no stream. */
    private static boolean isPlain(String name) {
        for (int i = 0; i < name.length(); i += Character.charCount(name.codePointAt(i))) {
            if (Character.isISOControl(name.codePointAt(i)) || !isWhole(name.codePointAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** A surrogate that comes as a code point of its own lacks its other half. */
    private static boolean isWhole(int codePoint) {
        return Character.getType(codePoint) != Character.SURROGATE;
    }
}
