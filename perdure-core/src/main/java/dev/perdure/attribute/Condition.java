package dev.perdure.attribute;

import dev.perdure.error.InvalidRequestException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What has to hold for an attribute of a run. An attribute of another type, or none, does not meet it.
 *
 * @param name the attribute
 * @param comparison how its value is compared
 * @param value with what
 */
public record Condition(String name, Comparison comparison, AttributeValue value) {
    private static final int MAX_LENGTH = 1_000;
    private static final Pattern TEXT =
            Pattern.compile("(?<name>[^=<>~]+)(?<comparison>=|>=|<|~)(?<value>.+)", Pattern.DOTALL);
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?");

    /** How values are compared. */
    public enum Comparison {
        /** The value is this. */
        IS,
        /** The number is not less, or the time not earlier. */
        AT_LEAST,
        /** The number is less, or the time earlier. */
        BELOW,
        /** The words contain this one. */
        CONTAINS
    }

    /** Checks that values of this type can be compared in this way. */
    public Condition {
        boolean ordered = value instanceof AttributeValue.Decimal || value instanceof AttributeValue.Time;
        if ((comparison == Comparison.AT_LEAST || comparison == Comparison.BELOW) && !ordered) {
            throw new InvalidRequestException("The attribute '%s' is %s; only numbers and times have ranges. Use is(…)."
                    .formatted(name, value.kind()));
        }
        if (value instanceof AttributeValue.Keywords && comparison == Comparison.IS) {
            throw new InvalidRequestException(
                    "The attribute '%s' is a list of keywords. Use contains(…), once for each word.".formatted(name));
        }
    }

    /**
     * For tools: the condition that a text says, such as {@code customer=c-7}, {@code total>=100},
     * {@code due<2026-01-31T00:00:00Z} or {@code tags~urgent}. A value that looks like a number, a time, or true or false
     * is compared as such; in double quotes it is a text.
     *
     * @throws InvalidRequestException if it has no comparison, or is too long
     */
    public static Condition parsed(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new InvalidRequestException(
                    "The condition '%s…' has %s characters; it has at most %s. A value of an attribute has up to %s."
                            .formatted(text.substring(0, 50), text.length(), MAX_LENGTH, AttributeValue.MAX_TEXT));
        }
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidRequestException(
                    "The condition '%s' has no comparison. Write NAME=VALUE, NAME>=VALUE, NAME<VALUE or NAME~WORD."
                            .formatted(text));
        }
        String attribute = matcher.group("name").strip();
        String sign = matcher.group("comparison");
        String value = matcher.group("value").strip();
        if (sign.equals("~")) {
            return Attribute.keywords(attribute).contains(value);
        }
        if (NUMBER.matcher(value).matches()) {
            return compared(Attribute.number(attribute), sign, new BigDecimal(value));
        }
        Instant time = time(value);
        if (time != null) {
            return compared(Attribute.time(attribute), sign, time);
        }
        return value.equals("true") || value.equals("false")
                ? compared(Attribute.flag(attribute), sign, value.equals("true"))
                : compared(Attribute.text(attribute), sign, value.replaceAll("^\"(.*)\"$", "$1"));
    }

    private static @Nullable Instant time(String value) {
        try {
            return Instant.parse(value);
        } catch (DateTimeParseException another) {
            return null;
        }
    }

    private static <T> Condition compared(Attribute<T> attribute, String sign, T value) {
        return switch (sign) {
            case "=" -> attribute.is(value);
            case ">=" -> attribute.atLeast(value);
            default -> attribute.below(value);
        };
    }

    /** For stores: whether a run with these attributes meets it. */
    public boolean holds(Map<String, AttributeValue> attributes) {
        AttributeValue present = attributes.get(name);
        return switch (comparison) {
            case IS -> value.equals(present);
            case AT_LEAST -> present != null && present.kind() == value.kind() && compared(present) >= 0;
            case BELOW -> present != null && present.kind() == value.kind() && compared(present) < 0;
            case CONTAINS ->
                present instanceof AttributeValue.Keywords keywords
                        && keywords.words().containsAll(value.texts());
        };
    }

    private int compared(@Nullable AttributeValue present) {
        if (present instanceof AttributeValue.Decimal number && value instanceof AttributeValue.Decimal bound) {
            return number.value().compareTo(bound.value());
        }
        return present instanceof AttributeValue.Time time && value instanceof AttributeValue.Time bound
                ? time.value().compareTo(bound.value())
                : 0;
    }
}
