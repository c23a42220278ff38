package dev.perdure.internal.handle;

import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Entry;
import java.util.Optional;
import java.util.regex.Pattern;

/** What a journal tells of bodies of steps that failed. */
final class FailedBodies {
    /** What would end a line, or do something to a terminal. */
    private static final Pattern BREAKS = Pattern.compile("[\\p{Cc}\\u2028\\u2029]+");

    private FailedBodies() {}

    static boolean isBody(Entry entry) {
        return entry.kind() == Entry.Kind.STEP || entry.kind() == Entry.Kind.TRANSACTION;
    }

    static boolean isOne(Entry entry) {
        return isBody(entry) && (entry.status() == Entry.Status.ATTEMPT || entry.status() == Entry.Status.FAILURE);
    }

    /** The attempt that failed; empty if the entry is of none, or if it cannot be read. */
    static Optional<FailedAttempt> read(Codec codec, Entry entry) {
        try {
            return isOne(entry) && codec.decode(entry.payload(), FailedAttempt.class) instanceof FailedAttempt failed
                    ? Optional.of(failed)
                    : Optional.empty();
        } catch (Exception unreadable) { // reason(…) says so
            return Optional.empty();
        }
    }

    /** Why one failed, in a line. */
    static String reason(Codec codec, Entry entry) {
        return BREAKS.matcher(summary(codec, entry)).replaceAll(" ");
    }

    private static String summary(Codec codec, Entry entry) {
        try {
            return codec.decode(entry.payload(), FailedAttempt.class) instanceof FailedAttempt failed
                    ? failed.failure().summary()
                    : "";
        } catch (Exception unreadable) { // of a custom codec: the history is shown without it
            return "what was thrown cannot be read back: "
                    + Failure.of(unreadable).summary();
        }
    }
}
