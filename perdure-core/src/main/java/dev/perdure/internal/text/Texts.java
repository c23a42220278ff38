package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The rules for texts that users pass. A refusal says which rule is broken. */
public final class Texts {
    private static final int MAX_NAME = 200;
    private static final int MAX_REASON = 1_000;
    private static final int REPLACEMENT = 0xFFFD;

    private Texts() {}

    /** Refuses an argument that is null, which callers without a null checker can pass. */
    public static <T> T requireGiven(String what, @Nullable T argument) {
        if (argument == null) {
            throw new InvalidRequestException("The %s is null. Pass one, or leave the call out.".formatted(what));
        }
        return argument;
    }

    /** A copy of a list. Refuses one that is null or has an element that is. */
    public static <T> List<T> requireElements(String list, String element, @Nullable Collection<? extends T> given) {
        Collection<? extends T> all = requireGiven(list, given);
        all.forEach(each -> requireGiven(element, each));
        return List.copyOf(all);
    }

    /** Refuses a number of elements to return that asks for none. */
    public static void requirePage(String what, int most) {
        if (most < 1) {
            throw new InvalidRequestException("The %s is %s; it is at least 1.".formatted(what, most));
        }
    }

    /** Checks a name. */
    public static void requireName(String what, @Nullable String name) {
        Names.require(what, name, MAX_NAME);
    }

    /** Checks a reason. */
    public static void requireReason(@Nullable String reason) {
        if (reason == null) {
            throw new InvalidRequestException("The reason is null. Say why, or give an empty text.");
        }
        requireShort("reason", reason);
    }

    /** Checks a text for people to read. It may be empty and may have several lines. */
    public static void requireText(String what, @Nullable String text) {
        if (text == null) {
            throw new InvalidRequestException("The %s is null. Give an empty text if there is none.".formatted(what));
        }
        requireShort(what, text);
    }

    /** Checks a text of one line. It may be empty. */
    static void requireLine(String what, String text) {
        requireStorable(what, text, false);
    }

    private static void requireShort(String what, String text) {
        if (text.length() > MAX_REASON) {
            throw new InvalidRequestException("The %s has %s characters; at most %s are allowed. Shorten it."
                    .formatted(what, text.length(), MAX_REASON));
        }
        requireStorable(what, text, true);
    }

    /** The text, or its beginning: whole characters, at most so many units of UTF-16. */
    public static String shortened(String text, int max) {
        if (text.length() <= max) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max);
    }

    /** A text that every store can hold: cut if it is long, with another character for each that cannot be stored. */
    public static String storable(String text, int most) {
        String kept = text.length() <= most
                ? text
                : "%s… (%s more characters)".formatted(text.substring(0, most), text.length() - most);
        StringBuilder storable = new StringBuilder(kept.length());
        kept.codePoints()
                .map(character -> character == 0 || !isWhole(character) ? REPLACEMENT : character)
                .forEach(storable::appendCodePoint);
        return storable.toString();
    }

    /** Does not use a stream, because every replay checks the names of all steps. */
    private static void requireStorable(String what, String text, boolean lines) {
        int character;
        for (int i = 0; i < text.length(); i += Character.charCount(character)) {
            character = text.codePointAt(i);
            boolean control = lines ? character == 0 : Character.isISOControl(character);
            if (control || !isWhole(character)) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "The %s holds the character U+%04X at index %s, which cannot be stored as text. Remove or encode it.",
                        what,
                        character,
                        i));
            }
        }
    }

    /** A surrogate that is a code point by itself lacks its other half. */
    private static boolean isWhole(int codePoint) {
        return Character.getType(codePoint) != Character.SURROGATE;
    }
}
