package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The one rule for every name a user gives (ids, definitions, steps, queues, patches), checked before any write. */
public final class Names {
    private static final int SHOWN = 40;

    private Names() {}

    public static String require(String what, @Nullable String value, int maxLength) {
        if (value == null) {
            throw new InvalidRequestException("The %s is null. Give it a non-empty text.".formatted(what));
        }
        if (value.isEmpty()) {
            throw new InvalidRequestException("The %s is empty. Give it a non-empty text.".formatted(what));
        }
        if (value.length() > maxLength) {
            throw new InvalidRequestException(
                    "The %s '%s…' has %s characters; at most %s are allowed. Shorten it or use a hash of it."
                            .formatted(what, beginning(value), value.length(), maxLength));
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            boolean pair = Character.isHighSurrogate(c)
                    && i + 1 < value.length()
                    && Character.isLowSurrogate(value.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "The %s holds the character U+%04X at index %s, which cannot be stored as text. Remove or encode it.",
                        what,
                        (int) c,
                        i));
            }
        }
        return value;
    }

    /** The first characters, none of them in half. */
    private static String beginning(String value) {
        int shown = Math.min(SHOWN, value.codePointCount(0, value.length()));
        return value.substring(0, value.offsetByCodePoints(0, shown));
    }
}
