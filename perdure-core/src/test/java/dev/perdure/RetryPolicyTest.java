package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.TerminalException;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
    private static final RetryPolicy EXACT = RetryPolicy.standard().jitter(0);

    @Test
    void the_standard_is_ten_attempts_from_200_ms_doubling_to_a_minute() {
        List<Long> delays = IntStream.rangeClosed(1, 10)
                .mapToObj(failed -> EXACT.delay(failed, 0.5).toMillis())
                .toList();
        assertThat(delays)
                .containsExactly(200L, 400L, 800L, 1_600L, 3_200L, 6_400L, 12_800L, 25_600L, 51_200L, 60_000L);
        assertThat(RetryPolicy.standard().allows(9, Duration.ofDays(1))).isTrue();
        assertThat(RetryPolicy.standard().allows(10, Duration.ZERO)).isFalse();
        assertThat(RetryPolicy.none().allows(1, Duration.ZERO)).isFalse();
    }

    @Test
    void the_jitter_shortens_within_its_range_and_never_above_the_cap() {
        RetryPolicy policy = RetryPolicy.standard()
                .initialDelay(Duration.ofSeconds(10))
                .maxDelay(Duration.ofSeconds(40))
                .jitter(0.25);
        assertThat(policy.delay(1, 0)).isEqualTo(Duration.ofSeconds(10));
        assertThat(policy.delay(1, 1)).isEqualTo(Duration.ofMillis(7_500));
        assertThat(policy.delay(9, 0)).isEqualTo(Duration.ofSeconds(40));
        assertThat(policy.delay(9, 1)).isEqualTo(Duration.ofSeconds(30));
        for (int i = 0; i <= 100; i++) {
            assertThat(policy.delay(1, i / 100.0)).isBetween(Duration.ofMillis(7_500), Duration.ofSeconds(10));
        }
    }

    @Test
    void delays_stay_finite_however_often_it_failed() {
        assertThat(EXACT.delay(Integer.MAX_VALUE, 0)).isEqualTo(Duration.ofMinutes(1));
        RetryPolicy none = EXACT.initialDelay(Duration.ZERO).factor(1e300);
        assertThat(none.delay(Integer.MAX_VALUE, 0)).isEqualTo(Duration.ZERO);
    }

    @Test
    void an_initial_delay_above_the_cap_raises_the_cap() {
        assertThat(EXACT.initialDelay(Duration.ofHours(1)).maxDelay()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void the_total_time_ends_the_attempts() {
        RetryPolicy policy = RetryPolicy.standard().totalTime(Duration.ofMinutes(1));
        assertThat(policy.allows(1, Duration.ofMinutes(1))).isTrue();
        assertThat(policy.allows(1, Duration.ofMinutes(1).plusNanos(1))).isFalse();
    }

    @Test
    void terminal_and_listed_exceptions_are_not_retried() {
        RetryPolicy policy = RetryPolicy.standard()
                .nonRetryable(IllegalArgumentException.class)
                .nonRetryable(java.io.IOException.class);
        assertThat(policy.retries(new TerminalException("no"))).isFalse();
        assertThat(policy.retries(new NumberFormatException("no"))).isFalse();
        assertThat(policy.retries(new java.io.FileNotFoundException("no"))).isFalse();
        assertThat(policy.retries(new IllegalStateException("yes"))).isTrue();
        assertThat(RetryPolicy.standard().retries(new NumberFormatException("yes")))
                .isTrue();
    }

    @Test
    void a_bad_policy_is_refused_with_the_reason() {
        refused("attempts is 0", policy -> policy.attempts(0));
        refused("initialDelay is PT-1S", policy -> policy.initialDelay(Duration.ofSeconds(-1)));
        refused("factor is 0.5", policy -> policy.factor(0.5));
        refused("factor is NaN", policy -> policy.factor(Double.NaN));
        refused("maxDelay PT0.1S is below initialDelay", policy -> policy.maxDelay(Duration.ofMillis(100)));
        refused("it is at most 36500 days", policy -> policy.maxDelay(Duration.ofSeconds(Long.MAX_VALUE)));
        refused("it is at most 36500 days", policy -> policy.initialDelay(Duration.ofSeconds(Long.MAX_VALUE)));
        refused("jitter is 1.1", policy -> policy.jitter(1.1));
        refused("totalTime is PT-1S", policy -> policy.totalTime(Duration.ofSeconds(-1)));
    }

    private static void refused(String why, UnaryOperator<RetryPolicy> change) {
        assertThatThrownBy(() -> change.apply(RetryPolicy.standard()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("Bad retry policy: ")
                .hasMessageContaining(why);
    }
}
