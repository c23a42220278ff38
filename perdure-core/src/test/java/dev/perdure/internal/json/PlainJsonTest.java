package dev.perdure.internal.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What is written and read without the parser is what the parser would have written and read. */
final class PlainJsonTest {
    private static final JsonMapper PARSER = JsonMapper.builder().build();
    private static final List<Type> TYPES = List.of(
            String.class, Integer.class, int.class, Long.class, long.class, Boolean.class, boolean.class, Object.class);

    static Stream<Object> values() {
        Random random = new Random(7);
        Stream<Object> edges = Stream.of(
                "",
                " ",
                "plain",
                "a\"b",
                "a\\b",
                "a/b",
                "line\n",
                "\u0000",
                "\u001f",
                "~",
                "\u007f",
                "é",
                "€",
                "\ud83d\ude00",
                "null",
                0,
                -1,
                10,
                999_999_999,
                1_000_000_000,
                Integer.MAX_VALUE,
                Integer.MIN_VALUE,
                0L,
                -7L,
                999_999_999_999_999_999L,
                1_000_000_000_000_000_000L,
                Long.MAX_VALUE,
                Long.MIN_VALUE,
                true,
                false,
                1.5,
                'c',
                List.of("a"));
        Stream<Object> random32 = IntStream.range(0, 500).mapToObj(i -> random.nextInt() >> random.nextInt(32));
        Stream<Object> random64 = IntStream.range(0, 500).mapToObj(i -> random.nextLong() >> random.nextInt(64));
        return Stream.of(edges, random32, random64).flatMap(all -> all);
    }

    @ParameterizedTest
    @MethodSource("values")
    void a_plain_value_has_the_bytes_that_the_parser_gives_it(Object value) {
        byte[] parsers = PARSER.writeValueAsBytes(value);
        for (Type type : TYPES) {
            byte[] ours = PlainJson.written(value, type);
            if (ours != null) {
                assertThat(ours).isEqualTo(parsers);
            }
            Object back = PlainJson.read(parsers, type);
            if (back != null) {
                assertThat(back).isEqualTo(parsed(parsers, type));
            }
        }
    }

    static Stream<String> oddities() {
        return Stream.of(
                "",
                " ",
                "-",
                "00",
                "01",
                "-0",
                "-01",
                "+1",
                "1.0",
                "1e3",
                " 1",
                "1 ",
                "12a",
                "\"",
                "\"\"",
                "\"a",
                "a\"",
                "\"a\"b\"",
                "\"\\u0041\"",
                "\"\\n\"",
                "\"é\"",
                "tru",
                "truely",
                "TRUE",
                "null",
                "[1]",
                "{}");
    }

    @ParameterizedTest
    @MethodSource("oddities")
    void what_is_not_plain_is_left_to_the_parser_or_read_as_it_does(String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        for (Type type : TYPES) {
            Object ours = PlainJson.read(bytes, type);
            if (ours != null) {
                assertThat(ours).isEqualTo(parsed(bytes, type));
            }
        }
    }

    /** Texts are looked through eight bytes at a time. */
    @Test
    void every_byte_is_seen_wherever_it_is() {
        for (int place = 1; place <= 21; place++) {
            for (int odd = 0; odd <= 0xff; odd++) {
                byte[] json = "\"a text of 21 letters.\"".getBytes(StandardCharsets.US_ASCII);
                json[place] = (byte) odd;
                boolean plain = odd >= ' ' && odd < 0x7f && odd != '"' && odd != '\\';
                String text = new String(json, 1, 21, StandardCharsets.ISO_8859_1);
                assertThat(PlainJson.read(json, String.class))
                        .as("byte %d at %d", odd, place)
                        .isEqualTo(plain ? text : null);
            }
        }
    }

    @Test
    void what_most_steps_give_is_plain() {
        assertThat(PlainJson.written("order-7: paid", String.class)).isNotNull();
        assertThat(PlainJson.written(42, Integer.class)).isNotNull();
        assertThat(PlainJson.written(42L, long.class)).isNotNull();
        assertThat(PlainJson.written(true, boolean.class)).isNotNull();
        assertThat(PlainJson.read("\"order-7: paid\"".getBytes(StandardCharsets.UTF_8), String.class))
                .isEqualTo("order-7: paid");
        assertThat(PlainJson.read("-42".getBytes(StandardCharsets.UTF_8), Integer.class))
                .isEqualTo(-42);
        assertThat(PlainJson.read("0".getBytes(StandardCharsets.UTF_8), Long.class))
                .isEqualTo(0L);
        assertThat(PlainJson.read("false".getBytes(StandardCharsets.UTF_8), Boolean.class))
                .isEqualTo(false);
        assertThat(PlainJson.written(42, long.class)).isNull();
        assertThat(PlainJson.written(null, String.class)).isNull();
    }

    private static @Nullable Object parsed(byte[] json, Type type) {
        try {
            return PARSER.readerFor(PARSER.constructType(type)).readValue(json);
        } catch (JacksonException refused) {
            return "refused: " + refused.getMessage();
        }
    }
}
