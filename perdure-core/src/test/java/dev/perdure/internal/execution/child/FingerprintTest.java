package dev.perdure.internal.execution.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.change.Payload;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FingerprintTest {
    private static String of(String text) {
        return Fingerprint.of(new Payload(text.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1|2",
                "\"a\"|\"b\"",
                "\"12\"|\"21\"",
                "{\"a\":1}|{\"b\":1}",
                "{\"a\":1}|{\"a\":2}",
                "{\"a\":1,\"b\":2}|{\"a\":2,\"b\":1}",
                "{\"at\":\"2026-01-01T00:00:00Z\"}|{\"at\":\"2026-01-02T00:00:00Z\"}",
                "[1,1]|[1]",
                "null|0"
            })
    void other_values_have_another_one(String one, String other) {
        assertThat(of(one)).isNotEqualTo(of(other));
    }

    @Test
    void the_order_of_a_set_and_a_field_that_is_not_set_do_not_matter() {
        assertThat(of("{\"tags\":[\"x\",\"y\"],\"n\":1,\"new\":null}"))
                .isEqualTo(of("{\"n\":1,\"tags\":[\"y\",\"x\"]}"));
    }

    @Test
    void an_input_of_nothing_has_one_too() {
        assertThat(of("")).isEqualTo(of("")).isNotEmpty();
    }
}
