package dev.perdure.internal.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Type;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads numbers, booleans and plain texts without a parser, with the same bytes as the parser. Most steps
 * return one of these. The parser handles everything else.
 */
final class PlainJson {
    private static final VarHandle EIGHT_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** The value 1 in each of eight bytes. */
    private static final long EACH = 0x0101_0101_0101_0101L;

    private static final int MOST_INT_DIGITS = 9;
    private static final int MOST_LONG_DIGITS = 18;

    private PlainJson() {}

    /** The JSON of a value, or null if the value is not a plain one of this type. */
    static byte @Nullable [] written(@Nullable Object value, Type type) {
        return switch (value) {
            case String text when type == String.class -> quoted(text);
            case Integer number when isInt(type) -> ascii(number.toString());
            case Long number when isLong(type) -> ascii(number.toString());
            case Boolean truth when isBoolean(type) -> ascii(truth.toString());
            case null, default -> null;
        };
    }

    /** The value of this JSON, or null if it is not a plain one of this type. */
    static @Nullable Object read(byte[] json, Type type) {
        if (type == String.class) {
            return unquoted(json);
        }
        if (isInt(type)) {
            return isNumber(json, MOST_INT_DIGITS) ? (Object) (int) number(json) : null;
        }
        if (isLong(type)) {
            return isNumber(json, MOST_LONG_DIGITS) ? (Object) number(json) : null;
        }
        return isBoolean(type) ? truth(json) : null;
    }

    private static boolean isInt(Type type) {
        return type == Integer.class || type == int.class;
    }

    private static boolean isLong(Type type) {
        return type == Long.class || type == long.class;
    }

    private static boolean isBoolean(Type type) {
        return type == Boolean.class || type == boolean.class;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte @Nullable [] quoted(String text) {
        byte[] json = new byte[text.length() + 2];
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (!isPlain(character)) {
                return null;
            }
            json[i + 1] = (byte) character;
        }
        json[0] = '"';
        json[json.length - 1] = '"';
        return json;
    }

    private static @Nullable String unquoted(byte[] json) {
        int end = json.length - 1;
        if (end < 1 || json[0] != '"' || json[end] != '"') {
            return null;
        }
        int i = 1;
        for (; i <= end - Long.BYTES; i += Long.BYTES) {
            if (!arePlain((long) EIGHT_BYTES.get(json, i))) {
                return null;
            }
        }
        for (; i < end; i++) {
            if (!isPlain(json[i])) {
                return null;
            }
        }
        return new String(json, 1, end - 1, StandardCharsets.ISO_8859_1);
    }

    /** A byte that is not ASCII is negative. */
    private static boolean isPlain(int character) {
        return character >= ' ' && character < 0x7f && character != '"' && character != '\\';
    }

    /** The same for eight bytes at once: the highest bit of each shows whether that byte is not plain. */
    private static boolean arePlain(long bytes) {
        long odd = bytes // not ASCII
                | (bytes - EACH * ' ')
                | ((bytes ^ EACH * '"') - EACH)
                | ((bytes ^ EACH * '\\') - EACH)
                | ((bytes ^ EACH * 0x7f) - EACH);
        return (odd & EACH << 7) == 0;
    }

    /** Whether this is a whole number as this class writes it, with so few digits that it cannot overflow. */
    private static boolean isNumber(byte[] json, int mostDigits) {
        int first = json.length > 0 && json[0] == '-' ? 1 : 0;
        int digits = json.length - first;
        if (digits < 1 || digits > mostDigits || (json[first] == '0' && json.length > 1)) {
            return false;
        }
        for (int i = first; i < json.length; i++) {
            if (json[i] < '0' || json[i] > '9') {
                return false;
            }
        }
        return true;
    }

    private static long number(byte[] json) {
        boolean negative = json[0] == '-';
        long value = 0;
        for (int i = negative ? 1 : 0; i < json.length; i++) {
            value = value * 10 + (json[i] - '0');
        }
        return negative ? -value : value;
    }

    private static @Nullable Boolean truth(byte[] json) {
        return switch (new String(json, StandardCharsets.ISO_8859_1)) {
            case "true" -> true;
            case "false" -> false;
            default -> null;
        };
    }
}
