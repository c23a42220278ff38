package dev.perdure.postgres.jdbc;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A map of texts as a JSON object, for columns of the type {@code jsonb}. */
public final class Json {
    private Json() {}

    /** The JSON object, or null if the map is empty. */
    public static @Nullable String object(Map<String, String> texts) {
        return texts.isEmpty()
                ? null
                : texts.entrySet().stream()
                        .map(each -> quoted(each.getKey()) + ":" + quoted(each.getValue()))
                        .collect(Collectors.joining(",", "{", "}"));
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) character));
            } else {
                quoted.append(character == '"' || character == '\\' ? "\\" : "").append(character);
            }
        }
        return quoted.append('"').toString();
    }

    /** The SQL for what {@link Results#pairs} reads: the names of an object, each followed by its text, or null. */
    public static String pairs(String column) {
        return pairs(
                column,
                "SELECT unnest(ARRAY[each.key, each.value]) FROM jsonb_each_text(CASE jsonb_typeof(%1$s) WHEN 'object' THEN %1$s END) AS each"
                        .formatted(column));
    }

    /** The same with the names and texts that this query gives. What is no object is one text, which is no pair. */
    static String pairs(String column, String ofObject) {
        return """
                CASE WHEN jsonb_typeof(%1$s) = 'object' THEN ARRAY(%2$s) WHEN %1$s IS NOT NULL THEN ARRAY[%1$s::text] END""".formatted(column, ofObject);
    }
}
