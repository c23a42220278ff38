package dev.perdure.jackson2;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.schedule.Fire;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.VerifiedValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Values as an application's own {@code ObjectMapper} of Jackson 2 writes them, with its modules, annotations, mixins and
 * naming strategy. Thread-safe.
 *
 * <p>Some things are as in the default codec, whatever the mapper says. Reading ignores unknown properties, so that a
 * class may lose a field between two versions. When a value is first recorded, it is read back strictly, and refused if
 * it would lose something. Times keep their offset and their zone, if the mapper writes them as texts. A mapper with
 * default typing is refused, because the data would choose classes. It also does where an annotation
 * {@code @JsonTypeInfo} of the application names them by class; prefer {@code JsonTypeInfo.Id.NAME}.
 */
public final class Jackson2Codec implements Codec {
    private static final String OF_THE_ENGINE = "dev.perdure.internal.";

    private final ObjectMapper mapper;
    /** For the engine's own values, which the application's mapper need not be able to write. */
    private final ObjectMapper own = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .addModule(new Jdk8Module())
            .build();

    private Jackson2Codec(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /**
     * A codec with this mapper. Do not change the mapper any more.
     *
     * @throws InvalidRequestException if the mapper has default typing
     */
    public static Jackson2Codec of(ObjectMapper mapper) {
        JavaType any = mapper.constructType(Object.class);
        if (mapper.getDeserializationConfig().getDefaultTyper(any) != null) {
            throw new InvalidRequestException(
                    "The ObjectMapper has default typing, so what is stored would choose the classes that are read. Give a mapper without it, and annotate the types that need it with @JsonTypeInfo.");
        }
        return new Jackson2Codec(mapper);
    }

    private ObjectMapper mapperOf(Type type) {
        return type == Fire.class
                        || (type instanceof Class<?> && type.getTypeName().startsWith(OF_THE_ENGINE))
                ? own
                : mapper;
    }

    @Override
    public Payload encode(@Nullable Object value, Type type) {
        try {
            return new Payload(writer(type).writeValueAsBytes(value));
        } catch (JsonProcessingException unwritable) {
            throw unwritable(type, unwritable);
        }
    }

    @Override
    public void encode(@Nullable Object value, Type type, PayloadOutput output) {
        try {
            writer(type).writeValue(output, value);
        } catch (JacksonException unwritable) {
            throw unwritable(type, unwritable);
        } catch (IOException impossible) { // The output throws none.
            throw new UncheckedIOException(impossible);
        }
    }

    private ObjectWriter writer(Type type) {
        ObjectMapper writing = mapperOf(type);
        return writing.writerFor(writing.constructType(type)).with(SerializationFeature.WRITE_DATES_WITH_ZONE_ID);
    }

    private static PayloadException unwritable(Type type, JacksonException cause) {
        return new PayloadException(
                "A value of type %s cannot be written as JSON: %s"
                        .formatted(type.getTypeName(), cause.getOriginalMessage()),
                cause);
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        return isNothing(type) ? null : read(lenient(type), payload, type);
    }

    @Override
    public @Nullable Object decode(InputStream encoded, Type type) {
        return read(lenient(type), encoded, type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        return isNothing(type) ? null : VerifiedValue.of(value, read(strict(type), payload, type), type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, InputStream encoded, Type type) {
        return VerifiedValue.of(value, read(strict(type), encoded, type), type);
    }

    private static boolean isNothing(Type type) {
        return type == void.class || type == Void.class;
    }

    private ObjectReader lenient(Type type) {
        return reader(type).without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    }

    private ObjectReader strict(Type type) {
        return reader(type).with(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    }

    private ObjectReader reader(Type type) {
        ObjectMapper reading = mapperOf(type);
        return reading.readerFor(reading.constructType(type))
                .without(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE);
    }

    private static @Nullable Object read(ObjectReader reader, Payload payload, Type type) {
        try {
            return reader.readValue(payload.bytes());
        } catch (IOException unreadable) {
            throw unreadable(payload.size() + " bytes of", type, unreadable);
        } catch (NumberFormatException outOfBounds) {
            throw unreadable(payload.size() + " bytes of", type, outOfBounds);
        }
    }

    private static @Nullable Object read(ObjectReader reader, InputStream encoded, Type type) {
        try {
            return reader.readValue(encoded);
        } catch (IOException unreadable) {
            throw unreadable("Large", type, unreadable);
        } catch (NumberFormatException outOfBounds) {
            throw unreadable("Large", type, outOfBounds);
        }
    }

    /** The parser lets this exception out if an exponent is out of all bounds. */
    private static PayloadException unreadable(String which, Type type, NumberFormatException cause) {
        return new PayloadException(
                "%s JSON cannot be read back as %s: a number is out of bounds".formatted(which, type.getTypeName()),
                cause);
    }

    private static PayloadException unreadable(String which, Type type, IOException cause) {
        String message = cause instanceof JacksonException json ? json.getOriginalMessage() : cause.getMessage();
        return new PayloadException(
                "%s JSON cannot be read back as %s: %s".formatted(which, type.getTypeName(), message), cause);
    }

    @Override
    public void check(Type type) {
        if (isNothing(type)) {
            return;
        }
        OpenTypes.refuse(type);
        try {
            reader(type).readValue("null");
        } catch (InvalidDefinitionException cause) {
            throw new PayloadException(
                    "The type %s cannot be stored: %s".formatted(type.getTypeName(), cause.getOriginalMessage()),
                    cause);
        } catch (JsonProcessingException nullIsNoValueOfIt) {
            // A reader exists, and that is all that this checks.
        }
    }
}
