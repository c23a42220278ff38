package dev.perdure.http.internal.json;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What an object of the API looks like: the names of its properties, what they mean and where their values come from.
 * The JSON and its description in OpenAPI are made from the same list, so that they agree. A property without a value is
 * left out. Immutable.
 *
 * @param <T> what is shown as such an object
 */
public final class Shape<T> {
    private final String name;
    private final List<Property<T>> properties;

    /**
     * A property.
     *
     * @param key its name
     * @param schema what it looks like
     * @param inside the shape of its objects, if it has any
     * @param value its value; null to leave it out
     */
    private record Property<T>(
            String key, ObjectNode schema, Optional<Shape<?>> inside, Function<T, @Nullable JsonNode> value) {}

    private Shape(String name, List<Property<T>> properties) {
        this.name = name;
        this.properties = properties;
    }

    /** A shape without properties. */
    public static <T> Shape<T> named(String name) {
        return new Shape<>(name, List.of());
    }

    private Shape<T> and(Property<T> property) {
        return new Shape<>(
                name, Stream.concat(properties.stream(), Stream.of(property)).toList());
    }

    private Shape<T> and(String key, ObjectNode schema, String about, Function<T, @Nullable JsonNode> value) {
        return and(new Property<>(key, schema.put("description", about), Optional.empty(), value));
    }

    /** A text, which may be an {@link Optional}. */
    public Shape<T> text(String key, String about, Function<T, ? extends @Nullable Object> value) {
        return and(
                key,
                type("string"),
                about,
                shown -> present(value.apply(shown))
                        .map(Object::toString)
                        .map(Json::text)
                        .orElse(null));
    }

    /** An instant, which may be an {@link Optional}. */
    public Shape<T> time(String key, String about, Function<T, ? extends @Nullable Object> value) {
        return and(
                key,
                type("string").put("format", "date-time"),
                about,
                shown -> present(value.apply(shown))
                        .map(Instant.class::cast)
                        .map(Instant::toString)
                        .map(Json::text)
                        .orElse(null));
    }

    /** A number, which may be an {@link Optional}. */
    public Shape<T> number(String key, String about, Function<T, ? extends @Nullable Object> value) {
        return and(
                key,
                type("number"),
                about,
                shown -> present(value.apply(shown))
                        .<JsonNode>map(number -> Json.object().numberNode(new BigDecimal(number.toString())))
                        .orElse(null));
    }

    /** True or false. */
    public Shape<T> flag(String key, String about, Function<T, Boolean> value) {
        return and(key, type("boolean"), about, shown -> Json.object().booleanNode(value.apply(shown)));
    }

    /** A list of texts. */
    public Shape<T> texts(String key, String about, Function<T, ? extends Collection<?>> value) {
        ObjectNode schema = type("array");
        schema.set("items", type("string"));
        return and(key, schema, about, shown -> {
            ArrayNode list = Json.array();
            value.apply(shown).forEach(each -> list.add(each.toString()));
            return list;
        });
    }

    /** Names with texts. */
    public Shape<T> map(String key, String about, Function<T, ? extends Map<String, ?>> value) {
        ObjectNode schema = type("object");
        schema.set("additionalProperties", type("string"));
        return and(key, schema, about, shown -> {
            ObjectNode names = Json.object();
            value.apply(shown).forEach((each, text) -> names.put(each, String.valueOf(text)));
            return names;
        });
    }

    /** Any JSON, such as a payload; null or an empty {@link Optional} to leave it out. */
    public Shape<T> any(String key, String about, Function<T, Optional<JsonNode>> value) {
        return and(key, Json.object(), about, shown -> value.apply(shown).orElse(null));
    }

    /** An object, which may be missing. */
    public <V> Shape<T> object(String key, String about, Shape<V> shape, Function<T, Optional<V>> value) {
        return and(new Property<>(
                key,
                shape.reference(),
                Optional.of(shape),
                shown -> value.apply(shown).<JsonNode>map(shape::json).orElse(null)));
    }

    /** A list of objects. */
    public <V> Shape<T> list(String key, String about, Shape<V> shape, Function<T, ? extends Collection<V>> value) {
        ObjectNode schema = type("array").put("description", about);
        schema.set("items", shape.reference());
        return and(new Property<>(key, schema, Optional.of(shape), shown -> {
            ArrayNode list = Json.array();
            value.apply(shown).forEach(each -> list.add(shape.json(each)));
            return list;
        }));
    }

    private static Optional<Object> present(@Nullable Object value) {
        return value instanceof Optional<?> optional ? optional.map(Function.identity()) : Optional.ofNullable(value);
    }

    private static ObjectNode type(String type) {
        return Json.object().put("type", type);
    }

    /** Its name in the OpenAPI document. */
    public String name() {
        return name;
    }

    /** The names of its properties. */
    public List<String> keys() {
        return properties.stream().map(Property::key).toList();
    }

    /** The value as JSON. */
    public ObjectNode json(T value) {
        ObjectNode json = Json.object();
        for (Property<T> property : properties) {
            JsonNode each = property.value().apply(value);
            if (each != null) {
                json.set(property.key(), each);
            }
        }
        return json;
    }

    /** A reference to it in the OpenAPI document. */
    public ObjectNode reference() {
        return Json.object().put("$ref", "#/components/schemas/" + name);
    }

    /** Its description in the OpenAPI document. */
    public ObjectNode schema() {
        ObjectNode schema = type("object");
        ObjectNode each = schema.putObject("properties");
        properties.forEach(property -> each.set(property.key(), property.schema()));
        return schema;
    }

    /** It and all shapes inside it. */
    public List<Shape<?>> all() {
        List<Shape<?>> found = new ArrayList<>();
        found.add(this);
        properties.forEach(property -> property.inside().ifPresent(shape -> found.addAll(shape.all())));
        return found;
    }
}
