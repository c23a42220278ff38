package dev.perdure.postgres.jdbc;

import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.error.InvalidRequestException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What runs say about themselves, in columns: {@code attributes}, {@code memo}, {@code status} and {@code headers}. */
public final class Descriptions {
    private Descriptions() {}

    /** The attributes as a JSON object, or null if there are none. */
    public static @Nullable String json(Map<String, ? extends @Nullable AttributeValue> attributes) {
        return attributes.isEmpty()
                ? null
                : attributes.entrySet().stream()
                        .map(each -> Json.quoted(each.getKey()) + ":" + json(each.getValue()))
                        .collect(Collectors.joining(",", "{", "}"));
    }

    private static String json(@Nullable AttributeValue value) {
        return switch (value) {
            case null -> "null";
            case AttributeValue.Text text -> Json.quoted(text.value());
            case AttributeValue.Decimal number -> number.value().toPlainString();
            case AttributeValue.Flag flag -> String.valueOf(flag.value());
            case AttributeValue.Time time ->
                "{\"time\":" + Json.quoted(time.value().toString()) + "}";
            case AttributeValue.Encrypted encrypted -> "{\"encrypted\":" + Json.quoted(encrypted.base64()) + "}";
            case AttributeValue.Keywords keywords ->
                keywords.words().stream().map(Json::quoted).collect(Collectors.joining(",", "[", "]"));
            case AttributeValue.Unreadable unreadable ->
                throw new IllegalArgumentException("An unreadable value cannot be stored: " + unreadable.encoded());
        };
    }

    /** The SQL for the attributes that {@link #read} and {@link #checked} read. */
    public static String pairs(String column) {
        return Json.pairs(column, """
                SELECT unnest(ARRAY[v.name, COALESCE(v.kind || ':' || string_agg(v.value, chr(10)), '')])
                FROM ${schema}.attribute_values(%s) AS v GROUP BY v.name, v.kind""".formatted(column));
    }

    /** What a run says. A value that this version cannot read does not hide the others, nor other runs of a list. */
    public static Description read(ResultSet row) throws SQLException {
        Map<String, AttributeValue> attributes = new TreeMap<>();
        try {
            Results.pairs(row, "attributes").forEach((name, value) -> attributes.put(name, decoded(value)));
        } catch (InvalidRequestException noObject) {
            attributes.put("attributes", new AttributeValue.Unreadable(String.valueOf(noObject.getMessage())));
        }
        return new Description(
                attributes,
                Optional.ofNullable(row.getString("memo")),
                Optional.ofNullable(row.getString("status")),
                headers(row));
    }

    private static AttributeValue decoded(String value) {
        try {
            return AttributeValue.decoded(value);
        } catch (InvalidRequestException ofANewerVersion) {
            return new AttributeValue.Unreadable(value);
        }
    }

    /** The headers as lines, or null if there are none. Neither names nor values have line breaks. */
    public static @Nullable String lines(Map<String, String> headers) {
        return headers.isEmpty()
                ? null
                : headers.entrySet().stream()
                        .map(header -> header.getKey() + "=" + header.getValue())
                        .collect(Collectors.joining("\n"));
    }

    /** The headers of a run or a mail. A line that is none is left out: a claim has many runs, and must not fail for one of them. */
    public static Map<String, String> headers(ResultSet row) throws SQLException {
        String lines = row.getString("headers");
        if (lines == null) {
            return Map.of();
        }
        Map<String, String> headers = new TreeMap<>();
        for (String line : lines.split("\n")) {
            int end = line.indexOf('=');
            if (end > 0) {
                headers.put(line.substring(0, end), line.substring(end + 1));
            }
        }
        return headers;
    }

    /**
     * What a start in the inbox says. Plain SQL may have inserted attributes and memo, so they are checked again.
     *
     * @throws InvalidRequestException if no version can store them
     * @throws IllegalStateException if an attribute has a kind that only a newer version can know
     */
    public static Description checked(ResultSet row) throws SQLException {
        Description checked = Description.NONE;
        for (Map.Entry<String, String> each : Results.pairs(row, "attributes").entrySet()) {
            String name = Attribute.text(each.getKey()).name();
            requireKnownKind(name, each.getValue());
            AttributeValue value = AttributeValue.decoded(each.getValue());
            value.require(name);
            checked = checked.with(name, value);
        }
        String memo = row.getString("memo");
        return (memo == null ? checked : checked.withMemo(memo)).withHeaders(headers(row));
    }

    private static void requireKnownKind(String name, String encoded) {
        String kind = encoded.substring(0, Math.max(encoded.indexOf(':'), 0));
        if (Arrays.stream(AttributeValue.Kind.values())
                .noneMatch(known -> known.name().equalsIgnoreCase(kind))) {
            throw new IllegalStateException(
                    "The attribute '%s' is of the kind '%s': was the row written by a newer version?"
                            .formatted(name, kind));
        }
    }
}
