package dev.perdure.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RecordedException;
import dev.perdure.internal.failure.Failure;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a Java program can hold comes back as it was, or is refused with a typed error. */
class OddDataTest {
    public enum Size {
        SMALL,
        LARGE {
            @Override
            public String toString() {
                return "a large one";
            }
        }
    }

    public sealed interface Shape permits Circle, Square, None {}

    public record Circle(double radius) implements Shape {}

    public record Square(int side) implements Shape {}

    public record None() implements Shape {}

    public record Box<T>(T content, Optional<String> label) {}

    public record Node(Node next) {}

    private static final String LONE = "half \uD83D a pair \uDE00 each";

    private final JsonCodec codec = new JsonCodec();

    private Object roundTrip(Object value, Type type) {
        codec.check(type);
        Payload payload = codec.encode(value, type);
        Object back = codec.verify(value, payload, type);
        assertThat(codec.decode(payload, type)).isEqualTo(back);
        return back;
    }

    static Stream<String> texts() {
        return Stream.of(
                "",
                "\u0000",
                "a\u0000b",
                LONE,
                "\uD800",
                "\uDC00",
                "😀 four bytes",
                "line\nbreak\t\"quoted\\\"",
                "\uFFFF\uFEFF",
                "x".repeat(1024 * 1024));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void every_text_comes_back_as_value_and_inside_records(String text) {
        assertThat(roundTrip(text, String.class)).isEqualTo(text);
        assertThat(roundTrip(new Box<>(text, Optional.of(text)), new TypeRef<Box<String>>() {}.type()))
                .isEqualTo(new Box<>(text, Optional.of(text)));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void every_text_comes_back_as_key_or_is_refused(String text) {
        Type type = new TypeRef<Map<String, List<String>>>() {}.type();
        Map<String, List<String>> map = Map.of(text, List.of(text));
        boolean half = text.codePoints().anyMatch(point -> Character.getType(point) == Character.SURROGATE);
        if (half || text.length() > 50_000) {
            assertThatThrownBy(() -> roundTrip(map, type)).isInstanceOf(PayloadException.class);
        } else {
            assertThat(roundTrip(map, type)).isEqualTo(map);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\u0000", LONE, "😀"})
    void every_message_of_an_exception_comes_back(String message) {
        Failure failure = Failure.of(new IllegalStateException(message, new RuntimeException(message)));
        Failure back = (Failure) roundTrip(failure, Failure.class);
        RecordedException thrown = back.toException();
        assertThat(thrown).hasMessage(message);
        assertThat(thrown.getCause()).hasMessage(message);
        assertThat(thrown.type()).isEqualTo("java.lang.IllegalStateException");
    }

    @Test
    void what_is_shown_of_a_failure_can_be_stored_as_text() {
        String summary = Failure.of(new IllegalStateException("zero \u0000, " + LONE + ", 😀"))
                .summary();
        assertThat(summary)
                .startsWith("java.lang.IllegalStateException: zero \uFFFD, half \uFFFD a pair \uFFFD each, 😀");
        assertThat(Failure.of(new IllegalStateException("x".repeat(100_000)))
                        .summary()
                        .length())
                .isLessThanOrEqualTo(4_000);
    }

    @Test
    void an_exception_whose_message_throws_and_one_that_causes_itself_are_recorded() {
        RuntimeException careless = new RuntimeException() {
            private static final long serialVersionUID = 1L;

            @Override
            public String getMessage() {
                throw new IllegalStateException("no message");
            }
        };
        assertThat(Failure.of(careless).summary()).contains("its getMessage() threw java.lang.IllegalStateException");
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);
        assertThat(Failure.of(one).toException()).hasMessage("one");
    }

    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of(Double.NaN, Double.class),
                Arguments.of(Double.NEGATIVE_INFINITY, Double.class),
                Arguments.of(-0.0, Double.class),
                Arguments.of(Float.NaN, Float.class),
                Arguments.of(Double.MIN_VALUE, Double.class),
                Arguments.of(Long.MAX_VALUE, Long.class),
                Arguments.of(BigInteger.TEN.pow(5_000).negate(), BigInteger.class),
                Arguments.of(new BigDecimal("1E-400"), BigDecimal.class),
                Arguments.of(new BigDecimal("1.10"), BigDecimal.class),
                Arguments.of('\uD800', Character.class),
                Arguments.of(true, Boolean.class),
                Arguments.of(Size.SMALL, Size.class),
                Arguments.of(Size.LARGE, Size.class),
                Arguments.of(new Circle(1.5), Shape.class),
                Arguments.of(new None(), Shape.class),
                Arguments.of(new Square(2), Square.class),
                Arguments.of(List.of(new Circle(1), new Square(2)), new TypeRef<List<Shape>>() {}.type()),
                Arguments.of(new Box<Shape>(new Square(1), Optional.empty()), new TypeRef<Box<Shape>>() {}.type()),
                Arguments.of(Optional.of("x"), new TypeRef<Optional<String>>() {}.type()),
                Arguments.of(Optional.empty(), new TypeRef<Optional<String>>() {}.type()),
                Arguments.of(Set.of(1, 2, 3), new TypeRef<Set<Integer>>() {}.type()),
                Arguments.of(
                        Map.of(DayOfWeek.MONDAY, List.of(1L)), new TypeRef<Map<DayOfWeek, List<Long>>>() {}.type()),
                Arguments.of(Arrays.asList("a", null), new TypeRef<List<String>>() {}.type()),
                Arguments.of(Instant.parse("+1000000000-12-31T23:59:59.999999999Z"), Instant.class),
                Arguments.of(Instant.MIN, Instant.class),
                Arguments.of(LocalDate.of(-5, 2, 28), LocalDate.class),
                Arguments.of(LocalDateTime.parse("2024-02-29T12:00:00.000000001"), LocalDateTime.class),
                Arguments.of(OffsetDateTime.parse("2024-02-29T12:00:00+05:45"), OffsetDateTime.class),
                Arguments.of(
                        ZonedDateTime.of(LocalDateTime.parse("2024-10-27T02:30:00"), ZoneId.of("Europe/Berlin"))
                                .withLaterOffsetAtOverlap(),
                        ZonedDateTime.class),
                Arguments.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.class),
                Arguments.of(new UUID(Long.MIN_VALUE, 1), UUID.class));
    }

    @ParameterizedTest
    @MethodSource("values")
    void every_value_comes_back_as_it_was(Object value, Type type) {
        assertThat(roundTrip(value, type)).isEqualTo(value);
    }

    @Test
    void bytes_and_arrays_come_back() {
        assertThat((byte[]) roundTrip(new byte[] {0, -1, 127}, byte[].class)).containsExactly(0, -1, 127);
        assertThat((int[][]) roundTrip(new int[][] {{1}, {}}, int[][].class)).isDeepEqualTo(new int[][] {{1}, {}});
    }

    @Test
    void a_deep_nest_comes_back_and_one_too_deep_is_refused() {
        assertThat(roundTrip(nest(200), Node.class)).isEqualTo(nest(200));
        assertThatThrownBy(() -> roundTrip(nest(1_100), Node.class)).isInstanceOf(PayloadException.class);
        assertThatThrownBy(() -> roundTrip(nest(100_000), Node.class)).isInstanceOf(PayloadException.class);
    }

    @Test
    void a_nest_that_is_too_deep_for_the_stack_is_refused_and_breaks_nothing() throws Exception {
        Payload payload = codec.encode(nest(990), Node.class);
        List<Throwable> thrown = new ArrayList<>();
        Thread small = new Thread(
                null, () -> thrown.add(catchThrowable(() -> codec.decode(payload, Node.class))), "small", 64 * 1024);
        small.start();
        small.join();
        assertThat(thrown).hasOnlyElementsOfType(PayloadException.class).hasSize(1);
    }

    private static Node nest(int depth) {
        Node node = null;
        for (int i = 0; i < depth; i++) {
            node = new Node(node);
        }
        return node;
    }

    @Test
    void what_refers_to_itself_or_is_too_long_a_number_is_refused() {
        List<Object> self = new ArrayList<>();
        self.add(self);
        assertThatThrownBy(() -> codec.encode(self, new TypeRef<List<Object>>() {}.type()))
                .isInstanceOf(PayloadException.class);
        BigInteger huge = BigInteger.TEN.pow(20_000);
        assertThatThrownBy(() -> roundTrip(huge, BigInteger.class)).isInstanceOf(PayloadException.class);
    }

    /** Has state that Jackson does not see. */
    public static class Money {
        public String currency = "EUR";
        private final long cents;

        public Money() {
            this(0);
        }

        Money(long cents) {
            this.cents = cents;
        }

        @Override
        public String toString() {
            return cents + " " + currency;
        }
    }

    public record Priced(String name, Money price) {}

    /** Its field goes by another name than its property; what it leaves out it does on purpose. */
    public static class Named {
        private String itsName = "";
        private transient int looks;

        @JsonIgnore
        private int calls;

        public String getName() {
            looks = looks + 1;
            return itsName;
        }

        public void setName(String name) {
            itsName = name;
            calls = calls + 1;
        }

        @Override
        public String toString() {
            return itsName + looks + calls;
        }
    }

    @Test
    void a_class_with_a_field_that_would_be_lost_is_refused() {
        for (Object value : List.of(new Money(5), new Priced("tea", new Money(5)), new Money[] {new Money(5)})) {
            assertThatThrownBy(() -> codec.encode(value, value.getClass()))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageEndingWith(
                            "The type %s cannot be stored: its field 'cents' would be lost, because it is no property. "
                                            .formatted(Money.class.getName())
                                    + "Use a record, give it a getter and a way to be set, or make it transient.");
        }
        Named named = new Named();
        named.setName("tea");
        Named back = (Named) codec.verify(named, codec.encode(named, Named.class), Named.class);
        assertThat(back).isNotNull();
        assertThat(back.getName()).isEqualTo("tea");
    }

    @Test
    void types_that_do_not_say_what_they_are_are_refused() {
        for (Type type : List.of(
                Object.class,
                List.class,
                Runnable.class,
                Number.class,
                new TypeRef<List<Object>>() {}.type(),
                new TypeRef<Map<String, Comparable<String>>>() {}.type())) {
            assertThatThrownBy(() -> codec.check(type))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("cannot be stored");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\u0000", "a\nb", "\uD800", "half \uDC00"})
    void an_id_that_cannot_be_stored_is_refused(String id) {
        assertThatThrownBy(() -> RunId.of(id))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The run id");
        assertThat(RunId.of("😀 is fine").value()).isEqualTo("😀 is fine");
    }
}
