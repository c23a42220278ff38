package dev.perdure.schedule;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What happens with fire times that have passed while no worker was there to fire them. Immutable.
 *
 * <p>A pause is something else: what falls into it is skipped.
 */
public final class CatchUp {
    /** How late a fire time may be, where none is caught up. */
    static final Duration TOLERANCE = Duration.ofMinutes(1);

    /** Which of them are fired. */
    public enum Kind {
        /** None that is more than a minute late; of those that are not, the last. */
        NONE,
        /** The last one, however late. */
        LAST,
        /** All of them, from the oldest, that are not later than some time. */
        ALL
    }

    private static final CatchUp NONE = new CatchUp(Kind.NONE, TOLERANCE);
    private static final CatchUp LAST = new CatchUp(Kind.LAST, null);

    private final Kind kind;
    private final @Nullable Duration within;

    private CatchUp(Kind kind, @Nullable Duration within) {
        this.kind = kind;
        this.within = within;
    }

    /** A fire time that is more than a minute late is skipped. */
    public static CatchUp none() {
        return NONE;
    }

    /** Of the fire times that have passed, the last one is fired. The default. */
    public static CatchUp last() {
        return LAST;
    }

    /**
     * All fire times are fired that are not later than this. They do not overlap with each other: with
     * {@link Overlap#SKIP} and {@link Overlap#WAIT} they run one after another, too. With {@link Overlap#CANCEL} only the
     * last is fired.
     *
     * @param within at most {@value Times#MOST_DAYS} days
     */
    public static CatchUp all(Duration within) {
        Texts.requireGiven("time to catch up", within);
        if (within.isNegative() || within.isZero()) {
            throw new InvalidRequestException(
                    "The time to catch up is %s; it must be longer than zero. Use CatchUp.none() to catch up nothing."
                            .formatted(within));
        }
        if (within.compareTo(Times.LONGEST) > 0) {
            throw new InvalidRequestException("The time to catch up is %s; it is at most %s days. Give a shorter one."
                    .formatted(within, Times.MOST_DAYS));
        }
        return new CatchUp(Kind.ALL, within);
    }

    /** Which fire times are fired. */
    public Kind kind() {
        return kind;
    }

    /** How late a fire time may be, if that is limited. */
    public Optional<Duration> within() {
        return Optional.ofNullable(within);
    }
}
