package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a run requires of a label of its worker: {@code gpu=true}, {@code region=eu}, {@code memory>=16}.
 *
 * @param label the name of the label
 * @param comparison how the label of the worker compares with the value
 * @param value the value
 */
public record Requirement(String label, Comparison comparison, String value) implements Comparable<Requirement> {
    /** The label with the id of its worker, which every worker has. */
    public static final String WORKER = "worker";

    private static final int MAX_LENGTH = 100;
    private static final String WORD = "[\\p{Alnum}_.:/+-]+";
    private static final Pattern PLAIN = Pattern.compile(WORD);
    private static final Pattern REQUIREMENT = Pattern.compile("(" + WORD + ")(>=|<=|=)(" + WORD + ")");
    private static final Pattern NUMBER = Pattern.compile("-?\\d{1,15}(\\.\\d{1,15})?");

    /** How a label compares with a value. */
    public enum Comparison {
        /** The label is this text. */
        EQUAL("="),
        /** The label is a number, and this or more. */
        AT_LEAST(">="),
        /** The label is a number, and this or less. */
        AT_MOST("<=");

        private final String sign;

        Comparison(String sign) {
            this.sign = sign;
        }

        private static Comparison of(String sign) {
            return switch (sign) {
                case "=" -> EQUAL;
                case ">=" -> AT_LEAST;
                default -> AT_MOST;
            };
        }
    }

    /**
     * Reads a requirement.
     *
     * @param text a label, one of =, &gt;= and &lt;=, and a value, without blanks
     */
    public static Requirement of(String text) {
        Names.require("requirement", text, 2 * MAX_LENGTH);
        Matcher parts = REQUIREMENT.matcher(text);
        if (!parts.matches()) {
            throw new InvalidRequestException(
                    "The requirement '%s' is not a label, one of = >= <=, and a value of letters, digits and _ . : / + -. Write it like gpu=true or memory>=16."
                            .formatted(text));
        }
        Requirement read = new Requirement(parts.group(1), Comparison.of(parts.group(2)), parts.group(3));
        if (read.comparison != Comparison.EQUAL && !NUMBER.matcher(read.value).matches()) {
            throw new InvalidRequestException(
                    "The requirement '%s' compares with '%s', which is not a number. Write it like memory>=16, or use =."
                            .formatted(text, read.value));
        }
        return read;
    }

    /** The requirement of this worker. */
    public static Requirement worker(String id) {
        return new Requirement(WORKER, Comparison.EQUAL, id);
    }

    /** Checks a label that a worker is to have. */
    public static void checkLabel(@Nullable String name, @Nullable String value) {
        checkPlain("name of a label", name);
        checkPlain("value of the label '%s'".formatted(name), value);
        if (WORKER.equals(name)) {
            throw new InvalidRequestException(
                    "The label '%s' is the id of the worker, which the engine sets. Choose another name."
                            .formatted(WORKER));
        }
    }

    private static void checkPlain(String what, @Nullable String text) {
        if (!PLAIN.matcher(Names.require(what, text, MAX_LENGTH)).matches()) {
            throw new InvalidRequestException(
                    "The %s is '%s'; it consists of letters, digits and _ . : / + -.".formatted(what, text));
        }
    }

    /** Whether a worker with these labels meets it. A worker without the label does not. */
    public boolean isMetBy(Map<String, String> labels) {
        String there = labels.get(label);
        if (there == null) {
            return false;
        }
        if (comparison == Comparison.EQUAL) {
            return there.equals(value);
        }
        if (!NUMBER.matcher(there).matches()) {
            return false;
        }
        int order = new BigDecimal(there).compareTo(new BigDecimal(value));
        return comparison == Comparison.AT_LEAST ? order >= 0 : order <= 0;
    }

    @Override
    public int compareTo(Requirement other) {
        return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
        return label + comparison.sign + value;
    }
}
