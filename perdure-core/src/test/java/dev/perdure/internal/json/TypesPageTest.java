package dev.perdure.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.TypeRef;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.io.IOException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of types in the guide is what the default codec does: each row is written, read back and compared. */
final class TypesPageTest {
    private static final Path PAGE = Path.of("..", "docs", "guides", "payloads.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `[^|]* \\| `[^`|]*` \\|$");

    public enum Size {
        SMALL,
        LARGE
    }

    public sealed interface Payment {}

    public record Card(String number) implements Payment {}

    public record Cash() implements Payment {}

    public record Page<T>(List<T> items, int next) {}

    public record Customer(String name, Optional<String> email) {}

    /** What a row of the table shows. */
    record Row(String label, Object value, Type type, String json) {
        @Override
        public String toString() {
            return label;
        }
    }

    private static Row row(String label, Object value, String json) {
        return new Row(label, value, value.getClass(), json);
    }

    private static Row row(String label, Object value, TypeRef<?> type, String json) {
        return new Row(label, value, type.type(), json);
    }

    static List<Row> rows() {
        return List.of(
                row("`String`", "tea", "\"tea\""),
                row("`int`, `long`, `double`, `boolean` and their classes", 42L, "42"),
                row("`double` that is no number", Double.NaN, "\"NaN\""),
                row("`BigDecimal`, with its scale", new BigDecimal("1.10"), "1.10"),
                row("`byte[]`", new byte[] {1, 2, 3}, "\"AQID\""),
                row("`UUID`", new UUID(0, 1), "\"00000000-0000-0000-0000-000000000001\""),
                row(
                        "`Instant`, to the nanosecond",
                        Instant.parse("2026-02-28T12:00:00.000000001Z"),
                        "\"2026-02-28T12:00:00.000000001Z\""),
                row("`LocalDate`", LocalDate.of(2026, 2, 28), "\"2026-02-28\""),
                row("`LocalTime`", LocalTime.of(12, 30), "\"12:30:00\""),
                row("`LocalDateTime`", LocalDateTime.of(2026, 2, 28, 12, 30), "\"2026-02-28T12:30:00\""),
                row(
                        "`OffsetDateTime`, with its offset",
                        OffsetDateTime.parse("2026-02-28T12:00:00+05:45"),
                        "\"2026-02-28T12:00:00+05:45\""),
                new Row(
                        "`ZonedDateTime`, with its zone",
                        ZonedDateTime.of(LocalDateTime.of(2026, 2, 28, 12, 0), ZoneId.of("Europe/Berlin")),
                        ZonedDateTime.class,
                        "\"2026-02-28T12:00:00+01:00[Europe/Berlin]\""),
                new Row("`ZoneId`", ZoneId.of("Europe/Berlin"), ZoneId.class, "\"Europe/Berlin\""),
                row("`Duration`", Duration.ofMinutes(90), "\"PT1H30M\""),
                row("`Period`", Period.ofMonths(3), "\"P3M\""),
                row("`YearMonth`", YearMonth.of(2026, 2), "\"2026-02\""),
                row("`Year`", Year.of(2026), "2026"),
                row(
                        "`Optional<String>` with a value",
                        Optional.of("tea"),
                        new TypeRef<Optional<String>>() {},
                        "\"tea\""),
                row("`Optional<String>` without one", Optional.empty(), new TypeRef<Optional<String>>() {}, "null"),
                row("`OptionalInt`", OptionalInt.of(3), "3"),
                row("`enum`, by the name of the constant", Size.LARGE, "\"LARGE\""),
                row("`record`", new Customer("Ann", Optional.empty()), "{\"name\":\"Ann\",\"email\":null}"),
                row(
                        "`Page<Customer>`: a generic record with its type arguments",
                        new Page<>(List.of(new Customer("Ann", Optional.of("a@b.c"))), 2),
                        new TypeRef<Page<Customer>>() {},
                        "{\"items\":[{\"name\":\"Ann\",\"email\":\"a@b.c\"}],\"next\":2}"),
                new Row(
                        "`sealed interface`, by the simple name of the permitted class",
                        new Card("42"),
                        Payment.class,
                        "{\"@type\":\"Card\",\"number\":\"42\"}"),
                row("`List<Payment>`", List.of(new Cash()), new TypeRef<List<Payment>>() {}, "[{\"@type\":\"Cash\"}]"),
                row("`Set<Integer>`", Set.of(7), new TypeRef<Set<Integer>>() {}, "[7]"),
                row(
                        "`Map<DayOfWeek, Duration>`",
                        new LinkedHashMap<>(Map.of(DayOfWeek.MONDAY, Duration.ofHours(8))),
                        new TypeRef<Map<DayOfWeek, Duration>>() {},
                        "{\"MONDAY\":\"PT8H\"}"));
    }

    private final JsonCodec codec = new JsonCodec();

    @ParameterizedTest
    @MethodSource("rows")
    void a_value_is_written_as_the_page_says_and_read_back_as_it_was(Row row) {
        codec.check(row.type());
        Payload payload = codec.encode(row.value(), row.type());
        assertThat(new String(payload.bytes(), StandardCharsets.UTF_8)).isEqualTo(row.json());
        assertThat(codec.verify(row.value(), payload, row.type())).isEqualTo(row.value());
        assertThat(codec.decode(payload, row.type())).isEqualTo(row.value());
    }

    @Test
    void the_page_has_these_rows_and_no_others() throws IOException {
        String table = section("## Types that can be stored");
        assertThat(ROW.matcher(table).results().count()).isEqualTo(rows().size());
        for (Row row : rows()) {
            assertThat(table).contains("| " + row.label() + " | `" + row.json() + "` |");
        }
    }

    private static String section(String heading) throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(heading);
        assertThat(begin).as(heading).isNotNegative();
        int end = page.indexOf("\n## ", begin + 1);
        return page.substring(begin, end < 0 ? page.length() : end);
    }

    @Entity
    public static class Book {
        @Id
        public long id = 1;

        public String title = "Tea";
    }

    public record Loan(String reader, Book book) {}

    static Stream<Object> refused() {
        return Stream.of(new Book(), new Loan("Ann", new Book()), new Book[] {new Book()});
    }

    @ParameterizedTest
    @MethodSource("refused")
    void a_jpa_entity_is_refused_with_the_reason_also_inside_another_value(Object value) throws IOException {
        String reason =
                "it is a JPA entity, and its lazy fields and its identity belong to a persistence context that ends "
                        + "before the value is read back (use its id, or a record with the fields that are needed)";
        assertThatThrownBy(() -> {
                    codec.check(value.getClass());
                    codec.encode(value, value.getClass());
                })
                .isInstanceOf(PayloadException.class)
                .hasMessageEndingWith("The type %s cannot be stored: %s.".formatted(Book.class.getName(), reason));
        assertThat(section("## Types that are refused")).contains("JPA entity");
    }

    @Test
    void a_list_of_entities_is_refused_when_it_is_registered() {
        assertThatThrownBy(() -> codec.check(new TypeRef<List<Book>>() {}.type()))
                .hasMessageContaining("it is a JPA entity");
    }

    @Test
    void every_refused_type_of_the_page_is_refused() throws IOException {
        String table = section("## Types that are refused");
        for (Type type : Arrays.asList(Object.class, List.class, Runnable.class, Number.class)) {
            assertThatThrownBy(() -> codec.check(type)).isInstanceOf(PayloadException.class);
            assertThat(table).contains("`" + ((Class<?>) type).getSimpleName() + "`");
        }
    }
}
