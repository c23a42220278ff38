package dev.perdure.internal.json;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.VerifiedValue;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * Values as UTF-8 JSON. Reading is lenient about unknown properties, so that a record may lose a field between two
 * versions; {@link #verify} is strict, so that it refuses a value that would lose something when it is first recorded.
 * The data never chooses a class.
 */
public final class JsonCodec implements Codec {
    private static final int MAX_DEPTH = 1_000;
    private static final int MAX_NUMBER_LENGTH = 10_000;
    /** A longer text is written piece by piece. */
    private static final int LONG_TEXT = 64 * 1024;

    /** How values of one type are written and read. Found once per type, because every step needs it. */
    private record Shape(JavaType type, ObjectWriter writer, ObjectReader reader, ObjectReader strict) {}

    private final JsonMapper mapper;
    private final ObjectReader strict;
    private final ObjectWriter escaping;
    private final ConcurrentMap<Type, Shape> shapes = new ConcurrentHashMap<>();
    /** Types that were found usable. Every engine with this codec asks about its definitions. */
    private final Set<Type> usable = ConcurrentHashMap.newKeySet();

    /** A codec with the settings described above. */
    public JsonCodec() {
        JsonFactory factory = JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .maxNumberLength(MAX_NUMBER_LENGTH)
                        .maxStringLength(Integer.MAX_VALUE)
                        .build())
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .build())
                .recyclerPool(new Buffers())
                .build();
        mapper = JsonMapper.builder(factory)
                .annotationIntrospector(new SealedTypes())
                .addModule(new SimpleModule("perdure").setSerializerModifier(new LostFields()))
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .disable(DateTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID)
                .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
                .build();
        strict = mapper.reader().with(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
        escaping = mapper.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII);
    }

    @Override
    public Payload encode(@Nullable Object value, Type type) {
        byte[] plain = PlainJson.written(value, type);
        return plain == null ? encodeAny(value, type) : new Payload(plain);
    }

    @Override
    public void encode(@Nullable Object value, Type type, PayloadOutput output) {
        byte[] plain = isLong(value) ? null : PlainJson.written(value, type);
        if (plain == null) {
            write(value, type, output);
        } else {
            output.write(new Payload(plain));
        }
    }

    /** Whether a text is too long to be written as a whole. */
    private static boolean isLong(@Nullable Object value) {
        return value instanceof String text && text.length() > LONG_TEXT;
    }

    private Payload encodeAny(@Nullable Object value, Type type) {
        return encoded(type, writer -> new Payload(writer.writeValueAsBytes(value)));
    }

    private void write(@Nullable Object value, Type type, PayloadOutput output) {
        encoded(type, writer -> {
            output.restart();
            writer.writeValue(output, value);
            return output;
        });
    }

    private <T> T encoded(Type type, Function<ObjectWriter, T> writing) {
        Shape shape = shape(type);
        try {
            return writing.apply(shape.writer());
        } catch (JacksonException plain) {
            return escaped(shape.type(), writing, plain);
        } catch (StackOverflowError endless) {
            throw new PayloadException(
                    "A value of type %s refers to itself, or is nested too deeply to be written as JSON."
                            .formatted(type.getTypeName()),
                    endless);
        }
    }

    /** A string with half a surrogate pair cannot be UTF-8, but can be an escape sequence. */
    private <T> T escaped(JavaType declared, Function<ObjectWriter, T> writing, JacksonException plain) {
        try {
            return writing.apply(escaping.forType(declared));
        } catch (JacksonException cause) {
            throw new PayloadException(
                    "A value of type %s cannot be written as JSON: %s"
                            .formatted(declared.toCanonical(), plain.getOriginalMessage()),
                    plain);
        }
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        return read(Shape::reader, payload, type);
    }

    private Shape shape(Type type) {
        Shape shape = shapes.get(type); // nearly always there
        return shape == null ? shapes.computeIfAbsent(type, this::shapeOf) : shape;
    }

    private Shape shapeOf(Type type) {
        JavaType found = mapper.constructType(type);
        return new Shape(found, mapper.writerFor(found), mapper.readerFor(found), strict.forType(found));
    }

    private @Nullable Object read(Function<Shape, ObjectReader> reader, Payload payload, Type type) {
        if (type == Void.class || type == void.class) {
            return null;
        }
        Object plain = PlainJson.read(payload.bytes(), type);
        return plain == null
                ? readAny(
                        payload.size() + " bytes of",
                        type,
                        () -> reader.apply(shape(type)).readValue(payload.bytes()))
                : plain;
    }

    private @Nullable Object read(Function<Shape, ObjectReader> reader, InputStream encoded, Type type) {
        return readAny("Large", type, () -> reader.apply(shape(type)).readValue(encoded));
    }

    private static @Nullable Object readAny(String which, Type type, Supplier<@Nullable Object> reading) {
        try {
            return reading.get();
        } catch (JacksonException cause) {
            throw unreadable(which, type, cause.getOriginalMessage(), cause);
        } catch (NumberFormatException cause) { // The parser lets it out if an exponent is out of all bounds.
            throw unreadable(which, type, "a number is out of bounds", cause);
        } catch (StackOverflowError tooDeep) {
            throw new PayloadException(
                    "%s JSON is nested too deeply to be read back as %s.".formatted(which, type.getTypeName()),
                    tooDeep);
        }
    }

    private static PayloadException unreadable(String which, Type type, String why, RuntimeException cause) {
        return new PayloadException(
                "%s JSON cannot be read back as %s: %s".formatted(which, type.getTypeName(), why), cause);
    }

    @Override
    public @Nullable Object decode(InputStream encoded, Type type) {
        return read(Shape::reader, encoded, type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        return VerifiedValue.of(value, read(Shape::strict, payload, type), type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, InputStream encoded, Type type) {
        return VerifiedValue.of(value, read(Shape::strict, encoded, type), type);
    }

    @Override
    public void check(Type type) {
        if (type == void.class || type == Void.class || usable.contains(type)) {
            return;
        }
        TypeRules.check(type);
        try {
            mapper.readerFor(mapper.constructType(type)).readValue("null");
        } catch (InvalidDefinitionException cause) {
            throw new PayloadException(
                    "The type %s cannot be stored: %s".formatted(type.getTypeName(), cause.getOriginalMessage()),
                    cause);
        } catch (JacksonException nullIsNoValueOfIt) {
            // A reader exists, and that is all that this checks.
        }
        usable.add(type);
    }
}
