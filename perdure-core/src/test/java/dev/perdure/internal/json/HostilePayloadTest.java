package dev.perdure.internal.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads that somebody has written who wants more than a value: classes, memory, time. */
final class HostilePayloadTest {
    private static final List<String> MADE = new ArrayList<>();

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    public interface ByClass {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS)
    public abstract static class ByMinimalClass {}

    public record Holder(String name, ByClass content) {}

    public record AnyHolder(
            @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Serializable content) {}

    public record Holders(Map<String, List<ByClass>> contents) {}

    /** Does something when it is created, as classes do that attackers look for. */
    public static class Trap implements ByClass {
        public Trap() {
            MADE.add("trap");
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Named.class, name = "named"))
    public interface ByName {}

    public record Named(int number) implements ByName {}

    public sealed interface Shape permits Circle {}

    public record Circle(int radius) implements Shape {}

    private final JsonCodec codec = new JsonCodec();

    private Object read(String json, Type type) {
        return codec.decode(new Payload(json.getBytes(UTF_8)), type);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {ByClass.class, ByMinimalClass.class, Holder.class, AnyHolder.class, Holders.class, Trap.class})
    void a_type_of_which_the_data_would_name_the_class_is_refused(Class<?> type) {
        assertThatThrownBy(() -> codec.check(type))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining(
                        "by its @JsonTypeInfo, the data would name the class to create. Make it a sealed interface, or use JsonTypeInfo.Id.NAME with @JsonSubTypes.");
        String trap = "{\"@class\": \"%s\"}".formatted(Trap.class.getName());
        for (String json : List.of(
                trap,
                "{\"content\": %s}".formatted(trap),
                "{\"contents\": {\"a\": [%s]}}".formatted(trap),
                "{\"@c\": \".HostilePayloadTest$Trap\"}")) {
            assertThatThrownBy(() -> read(json, type)).isInstanceOf(PayloadException.class);
        }
        assertThat(MADE).isEmpty();
    }

    @Test
    void names_of_types_come_from_the_code() {
        codec.check(ByName.class);
        assertThat(read("{\"@type\": \"named\", \"number\": 3}", ByName.class)).isEqualTo(new Named(3));
        for (String name : List.of(Named.class.getName(), "java.lang.ProcessBuilder", "Named", "", "named ")) {
            assertThatThrownBy(() -> read("{\"@type\": \"%s\", \"number\": 3}".formatted(name), ByName.class))
                    .as(name)
                    .isInstanceOf(PayloadException.class);
            assertThatThrownBy(() -> read("{\"@type\": \"%s\", \"radius\": 3}".formatted(name), Shape.class))
                    .as(name)
                    .isInstanceOf(PayloadException.class);
        }
    }

    @Test
    void a_value_of_another_type_is_refused() {
        for (String json :
                List.of("{\"radius\": \"x\"}", "[1]", "\"text\"", "true", "{\"radius\": {}}", "{\"radius\": [[]]}")) {
            assertThatThrownBy(() -> read(json, Circle.class))
                    .as(json)
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("cannot be read back as " + Circle.class.getTypeName());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e99999999999", "1e-2147483648", "-1e99999999999"})
    void an_exponent_out_of_all_bounds_is_refused(String number) {
        for (Type type : List.of(BigDecimal.class, BigInteger.class)) {
            assertThatThrownBy(() -> read(number, type))
                    .isInstanceOf(PayloadException.class)
                    .hasMessage("%d bytes of JSON cannot be read back as %s: a number is out of bounds"
                            .formatted(number.length(), type.getTypeName()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e1000000000", "1e-1000000000", "\"1e1000000000\""})
    void a_number_that_would_fill_the_memory_is_refused_or_kept_short(String number) {
        for (Type type : List.of(BigInteger.class, Long.class, Integer.class, Duration.class, Instant.class)) {
            try {
                assertThat(String.valueOf(read(number, type))).hasSizeLessThan(100);
            } catch (PayloadException refused) {
                assertThat(refused).hasMessageContaining("cannot be read back as " + type.getTypeName());
            }
        }
    }

    @Test
    void a_million_brackets_are_refused() {
        for (String json :
                List.of("[".repeat(1_000_000), "{\"content\":".repeat(100_000), "{\"x\":[".repeat(100_000))) {
            for (Type type : List.of(Named.class, String.class, Integer.class)) {
                assertThatThrownBy(() -> read(json, type)).isInstanceOf(PayloadException.class);
            }
        }
    }
}
