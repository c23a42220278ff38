package dev.perdure.jackson2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.schedule.Fire;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Payload;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class Jackson2CodecTest {
    public enum Size {
        SMALL,
        LARGE
    }

    public record Order(String orderId, BigDecimal amount, Optional<String> note, Instant at) {}

    public record Page<T>(List<T> items, int next) {}

    public record Shorter(String orderId) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Card.class, name = "card"))
    public sealed interface Payment {}

    public record Card(String number) implements Payment {}

    public sealed interface Shape {}

    public record Circle(int radius) implements Shape {}

    public static class Animal {
        public String name = "cat";
    }

    public static final class Cat extends Animal {}

    private static final Order ORDER = new Order(
            "o1", new BigDecimal("1.10"), Optional.of("soon"), Instant.parse("2026-02-28T12:00:00.000000001Z"));

    /** As that of Spring Boot, and with names of its own. */
    private static JsonMapper.Builder ofAnApplication() {
        return JsonMapper.builder()
                .addModule(new JavaTimeModule())
                .addModule(new Jdk8Module())
                .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);
    }

    // region codec
    /** An engine that stores values as the application's own mapper writes them. */
    static PerdureBuilder withOwnMapper(Store store, ObjectMapper mapper) {
        return Perdure.on(store).codec(Jackson2Codec.of(mapper));
    }
    // endregion

    private final Jackson2Codec codec = Jackson2Codec.of(ofAnApplication().build());

    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of("tea", String.class),
                Arguments.of(42L, Long.class),
                Arguments.of(new BigDecimal("1.10"), BigDecimal.class),
                Arguments.of(Size.LARGE, Size.class),
                Arguments.of(LocalDate.of(2026, 2, 28), LocalDate.class),
                Arguments.of(Duration.ofMinutes(90), Duration.class),
                Arguments.of(OffsetDateTime.parse("2026-02-28T12:00:00+05:45"), OffsetDateTime.class),
                Arguments.of(
                        ZonedDateTime.of(LocalDateTime.of(2026, 2, 28, 12, 0), ZoneId.of("Europe/Berlin")),
                        ZonedDateTime.class),
                Arguments.of(ZoneId.of("Europe/Berlin"), ZoneId.class),
                Arguments.of(Optional.empty(), new TypeRef<Optional<String>>() {}.type()),
                Arguments.of(ORDER, Order.class),
                Arguments.of(new Page<>(List.of(ORDER), 2), new TypeRef<Page<Order>>() {}.type()),
                Arguments.of(new Card("42"), Payment.class),
                Arguments.of(Set.of(1, 2, 3), new TypeRef<Set<Integer>>() {}.type()),
                Arguments.of(Map.of(Size.SMALL, 1), new TypeRef<Map<Size, Integer>>() {}.type()),
                Arguments.of(new Fire("s", Instant.EPOCH, Optional.empty(), Instant.EPOCH), Fire.class));
    }

    @ParameterizedTest
    @MethodSource("values")
    void a_value_comes_back_as_it_was(Object value, Type type) {
        codec.check(type);
        Payload payload = codec.encode(value, type);
        assertThat(codec.verify(value, payload, type)).isEqualTo(value);
        assertThat(codec.decode(payload, type)).isEqualTo(value);
        assertThat(codec.decode(new ByteArrayInputStream(payload.bytes()), type))
                .isEqualTo(value);
    }

    @Test
    void the_mapper_decides_how_values_are_written() {
        assertThat(new String(codec.encode(ORDER, Order.class).bytes(), StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"order_id\":\"o1\",\"amount\":1.10,\"note\":\"soon\",\"at\":\"2026-02-28T12:00:00.000000001Z\"}");
    }

    @Test
    void a_removed_field_is_ignored_also_by_a_mapper_that_fails_on_it() {
        Payload recorded = codec.encode(ORDER, Order.class);
        assertThat(codec.decode(recorded, Shorter.class)).isEqualTo(new Shorter("o1"));
        assertThatThrownBy(() -> codec.verify(null, recorded, Shorter.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("JSON cannot be read back as " + Shorter.class.getTypeName());
    }

    @Test
    void an_exponent_out_of_all_bounds_is_refused() {
        byte[] json = "1e99999999999".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> codec.decode(new Payload(json), BigDecimal.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageStartingWith("13 bytes of JSON cannot be read back as java.math.BigDecimal: ");
        assertThatThrownBy(() -> codec.decode(new ByteArrayInputStream(json), BigDecimal.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageStartingWith("Large JSON cannot be read back as java.math.BigDecimal: ");
    }

    @Test
    void a_value_that_would_lose_its_class_is_refused() {
        Payload payload = codec.encode(new Cat(), Animal.class);
        assertThatThrownBy(() -> codec.verify(new Cat(), payload, Animal.class))
                .isInstanceOf(PayloadException.class)
                .hasMessage("A %s is read back as %s by its declared type %s."
                        .formatted(Cat.class.getName(), Animal.class.getName(), Animal.class.getTypeName()));
    }

    @Test
    void types_that_do_not_say_what_they_are_are_refused() {
        for (Type type : List.of(Object.class, List.class, Runnable.class, Number.class, Shape.class)) {
            assertThatThrownBy(() -> codec.check(type))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageStartingWith("The type " + type.getTypeName() + " cannot be stored: ");
        }
        assertThatThrownBy(() -> codec.check(Shape.class))
                .hasMessageEndingWith("(annotate it with @JsonTypeInfo and @JsonSubTypes, or use a concrete class).");
    }

    @Test
    void a_mapper_with_default_typing_is_refused() {
        ObjectMapper typing = JsonMapper.builder()
                .activateDefaultTyping(BasicPolymorphicTypeValidator.builder()
                        .allowIfSubType("dev.perdure")
                        .build())
                .build();
        assertThatThrownBy(() -> Jackson2Codec.of(typing))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("The ObjectMapper has default typing,")
                .hasMessageEndingWith("annotate the types that need it with @JsonTypeInfo.");
    }

    @Test
    void a_mapper_without_modules_still_stores_what_the_engine_records() {
        Jackson2Codec bare = Jackson2Codec.of(new ObjectMapper());
        Fire fire = new Fire("s", Instant.EPOCH, Optional.of(Instant.EPOCH), Instant.EPOCH);
        assertThat(bare.decode(bare.encode(fire, Fire.class), Fire.class)).isEqualTo(fire);
        assertThatThrownBy(() -> bare.encode(ORDER, Order.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("cannot be written as JSON");
    }

    @Test
    void workflows_children_failures_and_dags_run_with_it() {
        Definition<Order, Order> part = Definition.of("part", Order.class, Order.class, (ctx, order) -> {
            if (order.orderId().equals("bad")) {
                throw new TerminalException("out of stock");
            }
            return order;
        });
        Definition<Order, Map<String, Integer>> flow =
                Definition.of("flow", TypeRef.of(Order.class), new TypeRef<Map<String, Integer>>() {}, (ctx, order) -> {
                    Order same = ctx.step("same", () -> order);
                    Map<String, Integer> counts = new LinkedHashMap<>();
                    counts.put(ctx.call(Invocation.of(part, same)).orderId(), 1);
                    try {
                        ctx.call(Invocation.of(part, new Order("bad", BigDecimal.ONE, Optional.empty(), order.at())));
                    } catch (RunFailedException failed) {
                        counts.put(String.valueOf(failed.getCause().getMessage()), 2);
                    }
                    return counts;
                });
        Dag<Order, String> dag = Dag.of("dag", Order.class, builder -> {
            var id = builder.task("id", t -> t.input().orderId());
            return builder.after(id).task("twice", (t, once) -> once + once);
        });
        try (Perdure perdure = withOwnMapper(
                        new MemoryStore(), ofAnApplication().build())
                .register(flow, part, dag)
                .start()) {
            Run<Map<String, Integer>> run = perdure.start(Invocation.of(flow, ORDER));
            assertThat(run.result()).isEqualTo(Map.of("o1", 1, "out of stock", 2));
            assertThat(perdure.start(dag, ORDER).result()).isEqualTo("o1o1");
        }
    }
}
