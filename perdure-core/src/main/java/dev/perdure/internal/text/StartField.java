package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A setting of a start, with what it may be. {@link #ALL} is the one list of them: the API checks what it is given by it, the readers of
 * stores check by it what others have written, and the check of plain SQL is made from it.
 *
 * @param <T> the type of its values
 */
public final class StartField<T> {
    /** The longest time that a start may have. */
    public static final Duration LONGEST = Duration.ofDays(36_500);

    /** The name of its definition. */
    public static final StartField<String> DEFINITION =
            new StartField<>("definition", "definition name", new Line(100), true);

    /** The id of the run. */
    public static final StartField<String> ID = new StartField<>("id", "run id", new Line(200), true);

    /** Its queue. */
    public static final StartField<String> QUEUE = new StartField<>("queue", "queue", new Line(100), true);

    /** Its key in the queue. */
    public static final StartField<String> KEY = new StartField<>("queue_key", "key", new Line(200), false);

    /** Its priority. */
    public static final StartField<Integer> PRIORITY =
            new StartField<>("priority", "priority", new AtLeast(Integer.MIN_VALUE), true);

    /** The version of the workers that it is for. */
    public static final StartField<String> VERSION = new StartField<>("version", "version", new Line(100), false);

    /** How many units of the rate of its queue it takes. */
    public static final StartField<Integer> WEIGHT = new StartField<>("weight", "weight", new AtLeast(1), true);

    /** Its timeout. */
    public static final StartField<Duration> TIMEOUT = new StartField<>("timeout", "run timeout", new Time(), false);

    /** The time within which it has to begin. */
    public static final StartField<Duration> START_WITHIN =
            new StartField<>("start_within", "time to start within", new Time(), false);

    /** All that a start has in plain SQL too, but for its attributes and labels. */
    public static final List<StartField<?>> ALL =
            List.of(DEFINITION, ID, QUEUE, KEY, PRIORITY, VERSION, WEIGHT, TIMEOUT, START_WITHIN);

    /** What the values may be. */
    public sealed interface Limit {}

    /**
     * A name: a text of one line that is not empty.
     *
     * @param most how many characters in UTF-16 at most
     */
    public record Line(int most) implements Limit {}

    /**
     * A number.
     *
     * @param least the least
     */
    public record AtLeast(int least) implements Limit {}

    /** A time longer than zero, and at most {@link #LONGEST}. */
    public record Time() implements Limit {}

    private final String name;
    private final String what;
    private final Limit limit;
    private final boolean required;

    private StartField(String name, String what, Limit limit, boolean required) {
        this.name = name;
        this.what = what;
        this.limit = limit;
        this.required = required;
    }

    /** Its name in stores and in SQL. */
    public String name() {
        return name;
    }

    /** As messages name it. */
    public String what() {
        return what;
    }

    /** What its values may be. */
    public Limit limit() {
        return limit;
    }

    /** Whether every start has one. */
    public boolean isRequired() {
        return required;
    }

    /** Returns the value. Refuses one that the setting may not have; null is none. */
    public @Nullable T check(@Nullable T value) {
        return value == null && !required ? null : require(value);
    }

    /** The same for a value that has to be given. */
    public T require(@Nullable T value) {
        switch (limit) {
            case Line line -> Names.require(what, (String) value, line.most());
            case AtLeast number -> requireAtLeast(number.least(), (Integer) value);
            case Time time -> requireTime(what, (Duration) value);
        }
        if (value == null) {
            throw new IllegalStateException("The checks refuse null.");
        }
        return value;
    }

    private void requireAtLeast(int least, @Nullable Integer value) {
        if (value == null || value < least) {
            throw new InvalidRequestException("The %s is %s; it is at least %s.".formatted(what, value, least));
        }
    }

    /** Refuses a time that is not longer than zero, or too long. */
    public static Duration requireTime(String what, @Nullable Duration value) {
        Duration given = requireGiven(what, value);
        if (given.isNegative() || given.isZero() || given.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("The %s is %s; it must be longer than zero and at most %s days."
                    .formatted(what, given, LONGEST.toDays()));
        }
        return given;
    }

    /** The same for a time that may be zero. */
    public static Duration requireTimeOrZero(String what, @Nullable Duration value) {
        Duration given = requireGiven(what, value);
        if (given.isNegative() || given.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("The %s is %s; it cannot be negative and is at most %s days."
                    .formatted(what, given, LONGEST.toDays()));
        }
        return given;
    }

    private static Duration requireGiven(String what, @Nullable Duration value) {
        if (value == null) {
            throw new InvalidRequestException("The %s is null. Give it a duration.".formatted(what));
        }
        return value;
    }

    @Override
    public String toString() {
        return name;
    }
}
