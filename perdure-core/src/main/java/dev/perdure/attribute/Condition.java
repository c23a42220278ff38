package dev.perdure.attribute;

import dev.perdure.error.InvalidRequestException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What has to hold for an attribute of a run. An attribute of another type, or none, does not meet it.
 *
 * @param name the attribute
 * @param comparison how its value is compared
 * @param value with what
 */
public record Condition(String name, Comparison comparison, AttributeValue value) {
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
