package dev.perdure.internal.cron;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions as people say them. */
class CronWordsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '=', textBlock = """
            * * * * *         = every minute
            */5 * * * *       = every 5 minutes
            7 * * * *         = every hour at :07
            0 */6 * * *       = every 6 hours at :00
            30 2 * * *        = every day at 02:30
            0 17,9 * * *      = every day at 09:00 and 17:00
            0 9 * * 1-5       = every weekday at 09:00
            0 9 * * mon-fri   = every weekday at 09:00
            15 22 * * 0       = every Sunday at 22:15
            15 22 * * 7       = every Sunday at 22:15
            0 8 * * MON,WED-THU = every Monday, Wednesday and Thursday at 08:00
            0 3 1 * *         = on the 1st of every month at 03:00
            0 3 22 12 *       = on the 22nd of December at 03:00
            0 3 13 * ?        = on the 13th of every month at 03:00
            59 23 L * *       = on the last day of every month at 23:59
            0 0 * 8 *         = every day in August at 00:00
            @daily            = every day at 00:00
            @weekly           = every Sunday at 00:00
            @yearly           = on the 1st of January at 00:00
            """)
    void what_is_short_in_words_has_words(String expression, String words) {
        CronTimes.of(expression, ZoneOffset.UTC); // it is an expression
        assertThat(CronWords.of(expression)).contains(words);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*/7 * * * *", // not every 7 minutes: it begins anew with the hour
                "*/5 9-17 * * *",
                "*/5 * * * 1-5",
                "0,30 9 * * *",
                "0 9 1 * 1", // the 1st, and every Monday
                "0 9 1,15 * *",
                "0 9 * 1-3 *",
                "0 9 * * FRI#2",
                "0 9 15W * *",
                "0 1,2,3,4 * * *",
                "30 0 9 * * *"
            })
    void what_is_not_has_none(String expression) {
        CronTimes.of(expression, ZoneOffset.UTC);
        assertThat(CronWords.of(expression)).isEmpty();
    }
}
