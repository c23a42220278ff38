package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.time.Instant;

/** The rule for times that users pass: the years 1 to 9999. All that is computed from them is an {@link Instant} too. */
public final class Instants {
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

    private Instants() {}

    /** Whether a time is in these years. */
    public static boolean isUsual(Instant time) {
        return !time.isBefore(EARLIEST) && time.isBefore(END);
    }

    /** Refuses a time that is not, and one that is null. */
    public static void require(String what, Instant time) {
        Texts.requireGiven(what, time);
        if (!isUsual(time)) {
            throw new InvalidRequestException("The %s is %s; it is in the years 1 to 9999.".formatted(what, time));
        }
    }
}
