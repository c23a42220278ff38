package dev.perdure.cli.output;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A value as text, and as what the JSON writer takes. */
final class Cells {
    private static final String NOTHING = "-";

    private Cells() {}

    /** In a table: one line, a time as its age. */
    static String cell(@Nullable Object value, Instant now) {
        return switch (value) {
            case null -> NOTHING;
            case Optional<?> maybe -> cell(maybe.orElse(null), now);
            case Instant at -> Ages.age(at, now);
            case Duration length -> Ages.duration(length);
            case Boolean yes -> yes ? "yes" : "no";
            case Collection<?> many ->
                many.isEmpty()
                        ? NOTHING
                        : many.stream().map(each -> cell(each, now)).collect(Collectors.joining(", "));
            case Map<?, ?> many -> many.isEmpty() ? NOTHING : text(many, now);
            default -> ControlCharacters.allReplaced(String.valueOf(value));
        };
    }

    private static String text(Map<?, ?> many, Instant now) {
        return many.entrySet().stream()
                .map(each -> cell(each.getKey(), now).replace('_', ' ') + " " + cell(each.getValue(), now))
                .collect(Collectors.joining(", "));
    }

    /** On a page: a time with its age. */
    static String line(@Nullable Object value, Instant now) {
        return switch (value) {
            case Optional<?> maybe -> line(maybe.orElse(null), now);
            case Instant at -> at + " (" + Ages.age(at, now) + ")";
            case null, default -> cell(value, now);
        };
    }

    /** Whether a page leaves the value out. */
    static boolean isEmpty(@Nullable Object value) {
        return value == null
                || (value instanceof Optional<?> maybe && maybe.isEmpty())
                || (value instanceof Collection<?> many && many.isEmpty())
                || (value instanceof Map<?, ?> map && map.isEmpty());
    }

    /** Whether a table aligns the value to the right. */
    static boolean isNumber(@Nullable Object value) {
        Object inside = value instanceof Optional<?> maybe ? maybe.orElse(null) : value;
        return inside instanceof Number || inside instanceof Bytes || inside instanceof Duration;
    }

    static @Nullable Object json(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Optional<?> maybe -> json(maybe.orElse(null));
            case Number number -> number;
            case Boolean yes -> yes;
            case JsonNode tree -> tree;
            case Bytes size -> size.count();
            case Duration length -> length.toMillis();
            case Collection<?> many -> many.stream().map(Cells::json).toList();
            case Map<?, ?> many -> {
                Map<String, @Nullable Object> members = new LinkedHashMap<>();
                many.forEach((name, each) -> members.put(String.valueOf(name), json(each)));
                yield members;
            }
            default -> value.toString();
        };
    }
}
