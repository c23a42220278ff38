package dev.perdure.internal.text;

/** Builds messages from other messages, some of which end with a full stop. */
public final class Sentences {
    private static final String ENDS = ".!?…";

    private Sentences() {}

    /** The text as a sentence that another one can follow. */
    public static String sentence(String text) {
        String stripped = text.strip();
        boolean ended = !stripped.isEmpty() && ENDS.indexOf(stripped.charAt(stripped.length() - 1)) >= 0;
        return ended ? stripped : stripped + ".";
    }
}
