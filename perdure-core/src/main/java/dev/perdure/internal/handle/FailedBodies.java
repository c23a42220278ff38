package dev.perdure.internal.handle;

import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Entry;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads from a journal which step bodies failed. */
final class FailedBodies {
    /** Characters that would end a line or control a terminal. */
    private static final Pattern BREAKS = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private FailedBodies() {}

    static boolean isBody(Entry entry) {
        return entry.kind() == Entry.Kind.STEP || entry.kind() == Entry.Kind.TRANSACTION;
    }

    static boolean isOne(Entry entry) {
        return isBody(entry) && (entry.status() == Entry.Status.ATTEMPT || entry.status() == Entry.Status.FAILURE);
    }

    /** The attempt that failed. Empty if the entry is not a failed attempt, or if it cannot be read. */
    static Optional<FailedAttempt> read(Codec codec, Entry entry) {
        try {
            return isOne(entry) && codec.decode(entry.payload(), FailedAttempt.class) instanceof FailedAttempt failed
                    ? Optional.of(failed)
                    : Optional.empty();
        } catch (Exception unreadable) { // reason(…) reports it
            return Optional.empty();
        }
    }

    /** Why an attempt failed, in one line. */
    static String reason(Codec codec, Entry entry) {
        return BREAKS.matcher(summary(codec, entry)).replaceAll(" ");
    }

    private static String summary(Codec codec, Entry entry) {
        try {
            return codec.decode(entry.payload(), FailedAttempt.class) instanceof FailedAttempt failed
                    ? failed.failure().summary()
                    : "";
        } catch (Exception unreadable) { // thrown by a custom codec: the history is shown without it
            return "what was thrown cannot be read back: "
                    + Failure.of(unreadable).summary();
        }
    }
}
