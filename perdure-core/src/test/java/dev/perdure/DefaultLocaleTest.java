package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.internal.cron.CronTimes;
import dev.perdure.retention.Retention;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Locale;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What is stored and read is the same under every default locale of the JVM. */
final class DefaultLocaleTest {
    private static <T> T under(String locale, Supplier<T> made) {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag(locale));
        try {
            return made.get();
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void the_rules_of_a_retention_have_the_same_names_with_other_digits() {
        Retention retention = Retention.days(30)
                .keep(Retention.runs().definition("a"), Duration.ofDays(1))
                .keep(Retention.runs().definition("b"), Duration.ofDays(2));

        assertThat(under("ar-EG", retention::settings)).isEqualTo(retention.settings());
        assertThat(retention.settings()).containsKey("rule:0001");
    }

    @Test
    void days_and_months_with_an_i_are_the_same_with_the_turkish_capital() {
        Instant thursday = Instant.parse("2026-01-01T00:00:00Z");

        assertThat(under(
                        "tr-TR",
                        () -> CronTimes.of("0 9 * apr fri", ZoneId.of("UTC")).next(thursday)))
                .hasValue(Instant.parse("2026-04-03T09:00:00Z"));
    }
}
