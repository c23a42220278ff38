package dev.perdure.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.cron.CronTimes;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.queue.Requirement;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that people and programs send: only typed exceptions come out, whatever they are. */
final class ParsersFuzzTest {
    private static final Instant NEW_YEAR = Instant.parse("2026-01-01T00:00:00Z");

    private static final Fuzz.Parser CRON = text -> {
        CronTimes cron = CronTimes.of(text, ZoneId.of("Europe/Berlin"));
        Instant last = NEW_YEAR;
        for (int i = 0; i < 3; i++) {
            Optional<Instant> next = cron.next(last);
            if (next.isEmpty()) {
                break;
            }
            assertThat(next.get()).as(text).isAfter(last);
            last = next.get();
        }
    };

    private static final Fuzz.Parser CONDITION = text -> {
        Condition condition = Condition.parsed(text);
        assertThat(AttributeValue.decoded(condition.value().encoded())).isEqualTo(condition.value());
    };

    private static void feed(int count) {
        new Fuzz(
                        1,
                        "*/5 0-23/2 1,15 * MON-FRI",
                        "0 0 L * ?",
                        "30 2 15W * *",
                        "0 0 ? * 5#2",
                        "0 9 * JAN-MAR SUN",
                        "*/20 30 2 LW * *",
                        "@daily",
                        "0 0 29 2 *",
                        "5# 1- L-3 W #")
                .feed(count / 4, CRON);
        new Fuzz(2, "customer=c-7", "total>=100.50", "due<2026-01-31T00:00:00Z", "tags~urgent", "paid=true", "a=\"1\"")
                .feed(count, CONDITION);
        new Fuzz(3, "text:c-7", "number:12.5", "flag:true", "time:2026-01-31T00:00:00Z", "keywords:a\nb")
                .feed(count, text -> AttributeValue.decoded(text).encoded());
        new Fuzz(4, "gpu=true", "memory>=16", "region=eu-1", "load<=0.5").feed(count, text -> Requirement.of(text));
        new Fuzz(5, "order-42", "o-1/charge", "schedule:nightly").feed(count, text -> RunId.of(text));
        new Fuzz(6, "awk1_" + "A".repeat(32)).feed(count, text -> Tokens.isOne(text));
    }

    @Test
    void texts_are_read_or_refused_with_a_typed_exception() {
        feed(Fuzz.FEW);
    }

    @Test
    @Tag("thorough")
    void very_many_texts_are_read_or_refused_with_a_typed_exception() {
        feed(Fuzz.MANY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"5# * * * *", "1- * * * *", "5-1/ * * * *", "0 0 * * 5#"})
    void a_cron_field_that_ends_too_early_is_refused(String expression) {
        assertThatThrownBy(() -> CronTimes.of(expression, ZoneId.of("UTC")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("The cron expression '%s' cannot be used: ".formatted(expression));
    }

    @Test
    void after_the_last_time_that_java_knows_there_is_no_other() {
        CronTimes daily = CronTimes.of("@daily", ZoneId.of("Europe/Berlin"));
        assertThat(daily.next(Instant.MAX)).isEmpty();
        assertThat(daily.next(Instant.MIN)).isEmpty();
    }

    @Test
    void texts_that_are_too_long_are_refused_before_they_are_read() {
        assertThatThrownBy(() -> CronTimes.of("1,".repeat(50_000) + "1 * * * *", ZoneId.of("UTC")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("It has more than 500 characters. Write five fields");
        assertThatThrownBy(() -> Condition.parsed("total=" + "9".repeat(1_000_000)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The condition 'total=%s…' has 1000006 characters; it has at most 1000. A value of an attribute has up to 500."
                                .formatted("9".repeat(44)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1E2147483647", "1E-2147483647", "1E999999999", "-1E-999999999"})
    void a_number_that_is_short_as_a_power_and_endless_as_a_text_is_refused(String number) {
        assertThatThrownBy(() -> Attribute.number("total").is(new BigDecimal(number)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The number %s is out of bounds: its exponent is at most 131072. Round it, or use a text."
                        .formatted(new BigDecimal(number)));
        assertThatThrownBy(() -> AttributeValue.decoded("number:" + number))
                .isInstanceOf(InvalidRequestException.class);
    }
}
