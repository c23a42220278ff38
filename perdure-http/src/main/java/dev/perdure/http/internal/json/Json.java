package dev.perdure.http.internal.json;

import java.util.function.Supplier;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads and writes JSON: numbers keep their digits, and every payload that a run can have fits. */
public final class Json {
    private static final int PAYLOAD_DEPTH = 1_000; // as the codec permits
    private static final int BODY_DEPTH = PAYLOAD_DEPTH + 20; // a body has payloads inside its own objects
    private static final int NUMBER_LENGTH = 10_000; // as the codec permits

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(PAYLOAD_DEPTH)
                            .maxNumberLength(NUMBER_LENGTH)
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .streamWriteConstraints(StreamWriteConstraints.builder()
                            .maxNestingDepth(BODY_DEPTH)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private Json() {}

    /** An empty object. */
    public static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /** An empty list. */
    public static ArrayNode array() {
        return MAPPER.createArrayNode();
    }

    /** A text as JSON. */
    public static JsonNode text(String text) {
        return MAPPER.getNodeFactory().stringNode(text);
    }

    /** Reads JSON. Throws Jackson's exception if it is none. */
    public static JsonNode read(byte[] json) {
        return read(() -> MAPPER.readTree(json));
    }

    /** Reads JSON. Throws Jackson's exception if it is none. */
    public static JsonNode read(String json) {
        return read(() -> MAPPER.readTree(json));
    }

    private static JsonNode read(Supplier<JsonNode> reading) {
        try {
            return reading.get();
        } catch (NumberFormatException cause) { // The parser lets it out if an exponent is out of all bounds.
            throw new StreamReadException(null, "a number is out of bounds", cause);
        }
    }

    /** The JSON as maps, lists, texts, numbers and booleans; null for null. */
    public static Object plain(JsonNode json) {
        return MAPPER.treeToValue(json, Object.class);
    }

    /** Writes JSON in UTF-8. */
    public static byte[] write(JsonNode json) {
        return MAPPER.writeValueAsBytes(json);
    }

    /** Writes JSON as text. */
    public static String text(JsonNode json) {
        return MAPPER.writeValueAsString(json);
    }
}
