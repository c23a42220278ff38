package dev.perdure.attribute;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Instants;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** A value of an attribute, in the one form in which it is stored and compared. */
public sealed interface AttributeValue {
    /** The greatest number of characters of a text or a word. */
    int MAX_TEXT = 500;

    /** The type of a value. */
    enum Kind {
        /** A text. */
        TEXT("a text"),
        /** A number. */
        NUMBER("a number"),
        /** True or false. */
        FLAG("a flag"),
        /** An instant. */
        TIME("a time"),
        /** Words. */
        KEYWORDS("a list of keywords"),
        /** A value of one of the other types, encrypted. */
        ENCRYPTED("an encrypted value"),
        /** A value that this version of the library cannot read. */
        UNREADABLE("a value that this version cannot read");

        private final String named;

        Kind(String named) {
            this.named = named;
        }

        /** As messages name it. */
        @Override
        public String toString() {
            return named;
        }
    }

    /**
     * A text.
     *
     * @param value the text
     */
    record Text(String value) implements AttributeValue {
        @Override
        public void require(String name) {
            Names.require("value of the attribute '%s'".formatted(name), value, MAX_TEXT);
        }

        @Override
        public List<String> texts() {
            return List.of(value);
        }

        @Override
        public Kind kind() {
            return Kind.TEXT;
        }
    }

    /**
     * A number, exactly.
     *
     * @param value the number
     */
    record Decimal(BigDecimal value) implements AttributeValue {
        private static final int MOST_DIGITS = 30;
        /** More than a store holds. A number such as 1E999999999 is short, and a gigabyte as a text. */
        private static final int MOST_SCALE = 131_072;

        /** Removes zeros that make no difference. */
        public Decimal {
            Texts.requireGiven("number", value);
            if (Math.abs((long) value.scale()) > MOST_SCALE) {
                throw new InvalidRequestException(
                        "The number %s is out of bounds: its exponent is at most %s. Round it, or use a text."
                                .formatted(value, MOST_SCALE));
            }
            value = value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
            if (value.scale() < 0 && (long) value.precision() - value.scale() <= MOST_DIGITS) {
                value = value.setScale(0); // as people read it: 1000, and not 1E+3
            }
        }

        @Override
        public void require(String name) {
            if (value.scale() > MOST_DIGITS || (long) value.precision() - value.scale() > MOST_DIGITS) {
                throw new InvalidRequestException(
                        "The value of the attribute '%s' is %s; it has at most %s digits before the point and %s after it. Round it, or use a text."
                                .formatted(name, value, MOST_DIGITS, MOST_DIGITS));
            }
        }

        @Override
        public List<String> texts() {
            return List.of(value.toPlainString());
        }

        @Override
        public Kind kind() {
            return Kind.NUMBER;
        }
    }

    /**
     * True or false.
     *
     * @param value which of them
     */
    record Flag(boolean value) implements AttributeValue {
        @Override
        public void require(String name) {
            // Both can be stored.
        }

        @Override
        public List<String> texts() {
            return List.of(String.valueOf(value));
        }

        @Override
        public Kind kind() {
            return Kind.FLAG;
        }
    }

    /**
     * An instant.
     *
     * @param value the instant, in microseconds
     */
    record Time(Instant value) implements AttributeValue {
        /** Cuts off what is less than a microsecond. */
        public Time {
            Texts.requireGiven("time", value);
            value = value.truncatedTo(ChronoUnit.MICROS);
        }

        @Override
        public void require(String name) {
            if (!Instants.isUsual(value)) {
                throw new InvalidRequestException(
                        "The value of the attribute '%s' is %s; it is in the years 1 to 9999. Leave the attribute out for a time that never comes."
                                .formatted(name, value));
            }
        }

        @Override
        public List<String> texts() {
            return List.of(value.toString());
        }

        @Override
        public Kind kind() {
            return Kind.TIME;
        }
    }

    /**
     * Words.
     *
     * @param words the words, in their order and each once
     */
    record Keywords(List<String> words) implements AttributeValue {
        /** Sorts the words and removes repeated ones. */
        public Keywords {
            Texts.requireGiven("list of keywords", words);
            words.forEach(word -> Texts.requireGiven("keyword", word));
            words = words.stream().sorted().distinct().toList();
        }

        @Override
        public void require(String name) {
            if (words.isEmpty()) {
                throw new InvalidRequestException(
                        "The attribute '%s' has no keywords. Give at least one, or leave the attribute out; a workflow removes it with null."
                                .formatted(name));
            }
            words.forEach(word -> Names.require("keyword of the attribute '%s'".formatted(name), word, MAX_TEXT));
        }

        @Override
        public List<String> texts() {
            return words;
        }

        @Override
        public Kind kind() {
            return Kind.KEYWORDS;
        }
    }

    /**
     * A value as the store has it, if the attribute is {@linkplain dev.perdure.payload.Encryption#attributes encrypted}.
     * Views have it only where the engine cannot decrypt it.
     *
     * @param base64 its bytes, in Base64
     */
    record Encrypted(String base64) implements AttributeValue {
        /** More than any value has that could be stored before it was encrypted. */
        private static final int MOST_CHARACTERS = 10_000;

        private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}");

        /** Checks that it is given. */
        public Encrypted {
            Texts.requireGiven("encrypted value", base64);
        }

        @Override
        public void require(String name) {
            if (base64.length() > MOST_CHARACTERS
                    || base64.length() % 4 != 0
                    || !BASE64.matcher(base64).matches()) {
                throw new InvalidRequestException(
                        "The value of the attribute '%s' is no encrypted value: it is not Base64, or has more than %s characters. Give the plain value."
                                .formatted(name, MOST_CHARACTERS));
            }
        }

        @Override
        public List<String> texts() {
            return List.of(base64);
        }

        @Override
        public Kind kind() {
            return Kind.ENCRYPTED;
        }
    }

    /**
     * A value that this version of the library cannot read: a newer one has written it, or it was changed in the
     * database. Only views have it, so that one such value does not hide a list of runs.
     *
     * @param encoded as the store has it, such as {@code money:12 EUR}
     */
    record Unreadable(String encoded) implements AttributeValue {
        /** Checks that it is given. */
        public Unreadable {
            Texts.requireGiven("value", encoded);
        }

        @Override
        public void require(String name) {
            throw new InvalidRequestException(
                    "The value of the attribute '%s' is one that this version of Perdure cannot read, so it cannot be stored. Use the version that wrote it."
                            .formatted(name));
        }

        @Override
        public List<String> texts() {
            return List.of(encoded);
        }

        @Override
        public Kind kind() {
            return Kind.UNREADABLE;
        }
    }

    /**
     * Checks that it can be stored.
     *
     * @param name the attribute, for messages
     */
    void require(String name);

    /** The value as text: one text, or the words. */
    List<String> texts();

    /** Its type. */
    Kind kind();

    /** The value in one text, such as {@code number:12.5}. */
    default String encoded() {
        return kind().name().toLowerCase(Locale.ROOT) + ':' + String.join("\n", texts());
    }

    /** The value that has been {@link #encoded}. */
    static AttributeValue decoded(String text) {
        int colon = text.indexOf(':');
        String value = text.substring(colon + 1);
        try {
            return switch (Kind.valueOf(text.substring(0, Math.max(colon, 0)).toUpperCase(Locale.ROOT))) {
                case TEXT -> new Text(value);
                case NUMBER -> new Decimal(new BigDecimal(value));
                case FLAG -> new Flag(Boolean.parseBoolean(value));
                case TIME -> new Time(Instant.parse(value));
                case KEYWORDS -> new Keywords(List.of(value.split("\n", -1)));
                case ENCRYPTED -> new Encrypted(value);
                case UNREADABLE -> throw new IllegalArgumentException("No value is stored as that.");
            };
        } catch (DateTimeException | IllegalArgumentException wrong) {
            throw new InvalidRequestException(
                    "The value '%s' of an attribute cannot be read. Give numbers as decimals, and times as 2026-01-31T12:00:00Z."
                            .formatted(value));
        }
    }
}
