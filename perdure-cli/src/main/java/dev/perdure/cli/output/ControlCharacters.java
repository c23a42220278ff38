package dev.perdure.cli.output;

import java.util.regex.Pattern;

/**
 * Keeps texts from controlling the terminal. Names, reasons and failures come from workflows and from other people; with
 * an escape sequence in them they could change what the terminal shows.
 */
public final class ControlCharacters {
    private static final Pattern ALL = Pattern.compile("\\p{Cc}"); // C0, DEL and C1
    private static final Pattern EXCEPT_LAYOUT = Pattern.compile("[\\p{Cc}&&[^\n\t]]");

    private ControlCharacters() {}

    /** The text with a space for each control character but newlines and tabs. */
    public static String replaced(String text) {
        return EXCEPT_LAYOUT.matcher(text).replaceAll(" ");
    }

    /** The text in one line, with a space for each control character. */
    static String allReplaced(String text) {
        return ALL.matcher(text).replaceAll(" ");
    }
}
