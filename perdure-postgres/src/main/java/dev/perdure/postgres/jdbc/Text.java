package dev.perdure.postgres.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * Makes texts for people, such as reasons, fit for a PostgreSQL text column. They come from exceptions, so they can
 * contain any character and have any length. The payload of the failure has the whole text.
 */
public final class Text {
    private static final int MOST = 2_000;
    private static final char REPLACEMENT = '\uFFFD';

    private Text() {}

    public static String storable(String text) {
        boolean clean =
                text.length() <= MOST && text.indexOf('\0') < 0 && text.chars().noneMatch(Text::isSurrogate);
        return clean ? text : cleaned(text);
    }

    public static @Nullable String storableOrNull(String text) {
        return text.isEmpty() ? null : storable(text);
    }

    private static boolean isSurrogate(int unit) {
        return unit >= Character.MIN_SURROGATE && unit <= Character.MAX_SURROGATE;
    }

    private static String cleaned(String text) {
        StringBuilder cleaned = new StringBuilder();
        text.codePoints()
                .limit(MOST)
                .map(point -> point == 0 || isSurrogate(point) ? REPLACEMENT : point)
                .forEach(cleaned::appendCodePoint);
        return text.codePointCount(0, text.length()) > MOST
                ? cleaned.append('…').toString()
                : cleaned.toString();
    }
}
