package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The rules for the headers of runs and of what is sent to them. They are stored as lines, {@code name=value}. */
public final class Headers {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    private static final int MAX_VALUE = 1_000;
    private static final int MAX_BYTES = 4_000;

    private Headers() {}

    /** Refuses headers that cannot be stored. */
    public static void require(Map<String, String> headers) {
        Texts.requireGiven("map of headers", headers);
        int bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            bytes += bytes(header.getKey(), header.getValue());
        }
        if (bytes > MAX_BYTES) {
            throw new InvalidRequestException(
                    "The headers have %s bytes; at most %s are allowed. Put what is larger into the input or the message."
                            .formatted(bytes, MAX_BYTES));
        }
    }

    /** The headers as lines. Neither names nor values have line breaks. */
    public static String lines(Map<String, String> headers) {
        return headers.entrySet().stream()
                .map(header -> header.getKey() + "=" + header.getValue())
                .collect(Collectors.joining("\n"));
    }

    private static int bytes(@Nullable String name, @Nullable String value) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new InvalidRequestException(
                    "A header has the name '%s'. Give it one of 1 to 100 letters, digits, dots, underscores and hyphens."
                            .formatted(name));
        }
        if (value == null) {
            throw new InvalidRequestException("The header '%s' is null. Leave it out.".formatted(name));
        }
        if (value.length() > MAX_VALUE) {
            throw new InvalidRequestException("The header '%s' has %s characters; at most %s are allowed. Shorten it."
                    .formatted(name, value.length(), MAX_VALUE));
        }
        Texts.requireLine("header '" + name + "'", value);
        return name.length() + value.getBytes(StandardCharsets.UTF_8).length + 2;
    }
}
