package dev.perdure.attribute;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/**
 * What a run is found by, such as a customer or a due date: a name and a type. Declare it once; starts, workflows and
 * filters use it. Immutable.
 *
 * <pre>{@code
 * static final Attribute<String> CUSTOMER = Attribute.text("customer");
 * static final Attribute<Number> TOTAL = Attribute.number("total");
 *
 * perdure.start(Orders::process, order, id("o-1").attribute(CUSTOMER, "c-7"));
 * ctx.attribute(TOTAL, 120);
 * perdure.runs(RunFilter.all().where(CUSTOMER.is("c-7")).where(TOTAL.atLeast(100))).list();
 * }</pre>
 *
 * @param <T> the type of its values
 */
public final class Attribute<T> {
    private static final int MAX_NAME = 100;

    private final String name;
    private final Function<T, AttributeValue> conversion;
    private final Function<AttributeValue, T> reading;
    private final AttributeValue.Kind kind;

    private Attribute(
            String name,
            AttributeValue.Kind kind,
            Function<T, AttributeValue> conversion,
            Function<AttributeValue, T> reading) {
        this.name = Names.require("attribute name", name, MAX_NAME);
        this.kind = kind;
        this.conversion = conversion;
        this.reading = reading;
    }

    /** An attribute whose values are texts, of at most 500 characters. */
    public static Attribute<String> text(String name) {
        return new Attribute<>(
                name,
                AttributeValue.Kind.TEXT,
                AttributeValue.Text::new,
                value -> value.texts().getFirst());
    }

    /**
     * An attribute whose values are numbers, stored as exact decimals of at most 30 digits before the point and 30
     * after it. It takes integers, {@code long}, {@code double}, {@link BigInteger} and {@link BigDecimal}, and gives
     * {@link BigDecimal}.
     */
    public static Attribute<Number> number(String name) {
        return new Attribute<>(
                name,
                AttributeValue.Kind.NUMBER,
                value -> new AttributeValue.Decimal(decimal(name, value)),
                value -> ((AttributeValue.Decimal) value).value());
    }

    /** An attribute whose values are true or false. */
    public static Attribute<Boolean> flag(String name) {
        return new Attribute<>(
                name,
                AttributeValue.Kind.FLAG,
                AttributeValue.Flag::new,
                value -> ((AttributeValue.Flag) value).value());
    }

    /** An attribute whose values are instants of the years 1 to 9999, stored in microseconds. */
    public static Attribute<Instant> time(String name) {
        return new Attribute<>(
                name,
                AttributeValue.Kind.TIME,
                AttributeValue.Time::new,
                value -> ((AttributeValue.Time) value).value());
    }

    /** An attribute whose values are lists of words, each of at most 500 characters. Their order is not kept. */
    public static Attribute<List<String>> keywords(String name) {
        return new Attribute<>(name, AttributeValue.Kind.KEYWORDS, AttributeValue.Keywords::new, AttributeValue::texts);
    }

    private static BigDecimal decimal(String name, Number value) {
        return switch (value) {
            case BigDecimal exact -> exact;
            case BigInteger whole -> new BigDecimal(whole);
            case Double real when Double.isFinite(real) -> BigDecimal.valueOf(real);
            case Float real when Float.isFinite(real) -> new BigDecimal(real.toString());
            case Integer whole -> BigDecimal.valueOf(whole);
            case Long whole -> BigDecimal.valueOf(whole);
            case Short whole -> BigDecimal.valueOf(whole);
            case Byte whole -> BigDecimal.valueOf(whole);
            default ->
                throw new InvalidRequestException(
                        "The value of the attribute '%s' is %s of the type %s, which is no decimal number. Give an integer, a finite double or a BigDecimal."
                                .formatted(name, value, value.getClass().getSimpleName()));
        };
    }

    /** The name. */
    public String name() {
        return name;
    }

    /** Selects runs whose attribute has this value. */
    public Condition is(T value) {
        return new Condition(name, Condition.Comparison.IS, value(value));
    }

    /** Selects runs whose number is not less than this, or whose time is not earlier. */
    public Condition atLeast(T value) {
        return new Condition(name, Condition.Comparison.AT_LEAST, value(value));
    }

    /** Selects runs whose number is less than this, or whose time is earlier. */
    public Condition below(T value) {
        return new Condition(name, Condition.Comparison.BELOW, value(value));
    }

    /** Selects runs whose list of words contains this word. */
    public Condition contains(String word) {
        if (kind != AttributeValue.Kind.KEYWORDS) {
            throw new InvalidRequestException(
                    "The attribute '%s' is no list of keywords, so it contains none. Use is(…).".formatted(name));
        }
        Texts.requireGiven("keyword", word);
        AttributeValue words = new AttributeValue.Keywords(List.of(word));
        words.require(name);
        return new Condition(name, Condition.Comparison.CONTAINS, words);
    }

    /** The value as it is stored. */
    public AttributeValue value(T value) {
        Texts.requireGiven("value of the attribute '%s'".formatted(name), value);
        AttributeValue stored = conversion.apply(value);
        stored.require(name);
        return stored;
    }

    /**
     * A stored value as this attribute has it.
     *
     * @throws InvalidRequestException if it is of another type, encrypted or unreadable
     */
    public T read(AttributeValue value) {
        if (value instanceof AttributeValue.Encrypted) {
            throw new InvalidRequestException(
                    "The attribute '%s' of the run is encrypted, and this process cannot decrypt it. Read it through an engine whose transform has the key."
                            .formatted(name));
        }
        if (value instanceof AttributeValue.Unreadable) {
            throw new InvalidRequestException(
                    "The attribute '%s' of the run has a value that this version of Perdure cannot read. Read it with the version that wrote it."
                            .formatted(name));
        }
        if (value.kind() != kind) {
            throw new InvalidRequestException(
                    "The attribute '%s' of the run is %s, and is read as %s. Declare it with the type that it was set with."
                            .formatted(name, value.kind(), kind));
        }
        return reading.apply(value);
    }

    /** The name. */
    @Override
    public String toString() {
        return name;
    }
}
