package dev.perdure.internal.text;

import dev.perdure.error.DecryptionException;
import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;

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

    /**
     * A recorded value that cannot be read back: why, and what to do about it.
     *
     * @param what the value, at the beginning of the message
     */
    public static String unreadable(String what, PayloadException cause) {
        return "%s cannot be read back. %s Nothing was applied. %s, then resume the run."
                .formatted(what, sentence(String.valueOf(cause.getMessage())), remedy(cause));
    }

    private static String remedy(PayloadException cause) {
        return switch (cause) {
            case MissingPayloadException missing -> "Bring it back";
            case DecryptionException undecrypted -> "Put that right";
            default -> "Bring back the type that fits";
        };
    }
}
