package dev.perdure;

import dev.perdure.internal.text.StartField;
import java.io.Serializable;

/**
 * The id of a run, chosen by the caller or generated in time order. It makes starts idempotent: two runs never have the
 * same id.
 *
 * @param value one to {@value #MAX_LENGTH} characters that PostgreSQL can store as text
 */
public record RunId(String value) implements Comparable<RunId>, Serializable {
    /** The longest id, in UTF-16 characters. */
    public static final int MAX_LENGTH = 200;

    /** Checks the id. */
    public RunId {
        StartField.ID.require(value);
    }

    /** The same as the constructor, for use in calls: {@code RunId.of("order-42")}. */
    public static RunId of(String value) {
        return new RunId(value);
    }

    @Override
    public int compareTo(RunId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
