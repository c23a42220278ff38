package dev.perdure.attribute;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a run says about itself. Immutable.
 *
 * @param attributes what it is found by, in the order of their names
 * @param memo what a person reads about it, set at the start
 * @param status what it does at present, in its own words
 * @param headers what {@linkplain dev.perdure.interceptor.Interceptor#start interceptors} gave it at its start, in the
 *     order of their names
 */
public record Description(
        Map<String, AttributeValue> attributes,
        Optional<String> memo,
        Optional<String> status,
        Map<String, String> headers) {
    /** The description of a run that says nothing. */
    public static final Description NONE = new Description(Map.of(), Optional.empty(), Optional.empty());

    /** How many bytes of UTF-8 the names and values of a run have at most. */
    public static final int MAX_ATTRIBUTES = 2_000;

    private static final int MAX_MEMO = 4_000;
    private static final int MAX_STATUS = 200;

    /** Copies the attributes and the headers. */
    public Description {
        attributes = Collections.unmodifiableMap(new TreeMap<>(attributes));
        headers = headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(headers));
    }

    /** A description without headers. */
    public Description(Map<String, AttributeValue> attributes, Optional<String> memo, Optional<String> status) {
        this(attributes, memo, status, Map.of());
    }

    /** The value of an attribute, if the run has it. */
    public <T> Optional<T> get(Attribute<T> attribute) {
        Texts.requireGiven("attribute", attribute);
        return Optional.ofNullable(attributes.get(attribute.name())).map(attribute::read);
    }

    /** The same with this attribute, in place of an earlier one of its name. */
    public Description with(String name, AttributeValue value) {
        Map<String, AttributeValue> more = new TreeMap<>(attributes);
        more.put(name, value);
        int bytes = more.entrySet().stream()
                .mapToInt(each -> bytes(each.getKey()) + bytes(each.getValue()))
                .sum();
        if (bytes > MAX_ATTRIBUTES) {
            throw new InvalidRequestException(
                    "With the attribute '%s' the attributes of the run have %s bytes; at most %s are allowed. Put data that is not searched for into the memo."
                            .formatted(name, bytes, MAX_ATTRIBUTES));
        }
        return new Description(more, memo, status, headers);
    }

    /** An encrypted value was counted before it was encrypted. */
    private static int bytes(AttributeValue value) {
        return value instanceof AttributeValue.Encrypted
                ? 0
                : value.texts().stream().mapToInt(Description::bytes).sum();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The same without this attribute. */
    public Description without(String name) {
        Map<String, AttributeValue> fewer = new TreeMap<>(attributes);
        fewer.remove(name);
        return new Description(fewer, memo, status, headers);
    }

    /** The same with other attributes. */
    public Description withAttributes(Map<String, ? extends AttributeValue> others) {
        return new Description(new TreeMap<>(others), memo, status, headers);
    }

    /** The same with this memo. */
    public Description withMemo(String text) {
        return new Description(attributes, Optional.of(requireText("memo", text, MAX_MEMO)), status, headers);
    }

    /** The same with this status. */
    public Description withStatus(String text) {
        return new Description(attributes, memo, Optional.of(requireText("status", text, MAX_STATUS)), headers);
    }

    /** The same with these headers in place of those before. */
    public Description withHeaders(Map<String, String> others) {
        return new Description(attributes, memo, status, others);
    }

    private static String requireText(String what, String text, int most) {
        Texts.requireGiven(what, text);
        if (text.length() > most) {
            throw new InvalidRequestException("The %s has %s characters; at most %s are allowed. Shorten it."
                    .formatted(what, text.length(), most));
        }
        if (text.indexOf('\0') >= 0) {
            throw new InvalidRequestException(
                    "The %s holds the character U+0000, which cannot be stored as text. Remove it.".formatted(what));
        }
        return text;
    }
}
