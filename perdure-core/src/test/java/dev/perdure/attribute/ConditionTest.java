package dev.perdure.attribute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionTest {
    @Test
    void a_text_says_a_condition_of_the_type_that_its_value_looks_like() {
        assertThat(Condition.parsed("customer=c-7"))
                .isEqualTo(Attribute.text("customer").is("c-7"));
        assertThat(Condition.parsed("total >= 100.5"))
                .isEqualTo(Attribute.number("total").atLeast(100.5));
        assertThat(Condition.parsed("due<2026-01-31T00:00:00Z"))
                .isEqualTo(Attribute.time("due").below(Instant.parse("2026-01-31T00:00:00Z")));
        assertThat(Condition.parsed("urgent=true"))
                .isEqualTo(Attribute.flag("urgent").is(true));
        assertThat(Condition.parsed("tags~red"))
                .isEqualTo(Attribute.keywords("tags").contains("red"));
        assertThat(Condition.parsed("total=\"100\""))
                .isEqualTo(Attribute.text("total").is("100"));
    }

    @Test
    void a_text_without_a_comparison_is_refused() {
        assertThatThrownBy(() -> Condition.parsed("total"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The condition 'total' has no comparison. Write NAME=VALUE, NAME>=VALUE, NAME<VALUE or NAME~WORD.");
    }

    @Test
    void numbers_are_shown_with_all_their_digits() {
        for (String number : List.of("1000", "1000.00", "1E+3", "1e3")) {
            AttributeValue.Decimal value = new AttributeValue.Decimal(new BigDecimal(number));
            assertThat(value.value()).hasToString("1000");
            assertThat(AttributeValue.decoded(value.encoded())).isEqualTo(value);
        }
        assertThat(new AttributeValue.Decimal(new BigDecimal("-0.50")).value()).hasToString("-0.5");
        assertThat(new AttributeValue.Decimal(new BigDecimal("1E+40")).value()).hasToString("1E+40");
    }
}
