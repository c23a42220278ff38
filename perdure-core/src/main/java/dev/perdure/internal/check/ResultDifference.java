package dev.perdure.internal.check;

import dev.perdure.spi.change.Payload;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Names the place at which two results differ, without their values, which do not belong into the log of a build. */
final class ResultDifference {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private ResultDifference() {}

    static String between(Payload recorded, Payload now) {
        try {
            return place("", MAPPER.readTree(recorded.bytes()), MAPPER.readTree(now.bytes()))
                    .map(path -> path.isEmpty() ? "all of it" : "at " + path)
                    .orElse("only in its format");
        } catch (JacksonException notJson) {
            return "%s bytes were recorded, and now it has %s".formatted(recorded.size(), now.size());
        }
    }

    private static Optional<String> place(String path, @Nullable JsonNode recorded, @Nullable JsonNode now) {
        if (recorded == null || now == null) {
            return Optional.of(path);
        }
        if (recorded.equals(now)) {
            return Optional.empty();
        }
        if (recorded.isObject() && now.isObject()) {
            TreeSet<String> names = new TreeSet<>(recorded.propertyNames());
            names.addAll(now.propertyNames());
            return names.stream()
                    .flatMap(name -> place(path + "/" + name, recorded.get(name), now.get(name)).stream())
                    .findFirst();
        }
        if (recorded.isArray() && now.isArray() && recorded.size() == now.size()) {
            for (int i = 0; i < now.size(); i++) {
                Optional<String> place = place(path + "/" + i, recorded.get(i), now.get(i));
                if (place.isPresent()) {
                    return place;
                }
            }
        }
        return Optional.of(path);
    }
}
