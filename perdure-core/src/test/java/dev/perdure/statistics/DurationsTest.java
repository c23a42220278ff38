package dev.perdure.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DurationsTest {
    private static Durations to(int millis) {
        List<Duration> measured =
                IntStream.rangeClosed(1, millis).mapToObj(Duration::ofMillis).collect(Collectors.toList());
        Collections.reverse(measured);
        return Durations.of(measured).orElseThrow();
    }

    @Test
    void percentiles_are_times_that_were_measured() {
        assertThat(to(100))
                .isEqualTo(new Durations(
                        100,
                        Duration.ofMillis(50),
                        Duration.ofMillis(95),
                        Duration.ofMillis(99),
                        Duration.ofMillis(100),
                        Duration.ofMillis(5_050)));
        assertThat(to(1_000).p99()).isEqualTo(Duration.ofMillis(990));
        assertThat(to(3))
                .isEqualTo(new Durations(
                        3,
                        Duration.ofMillis(2),
                        Duration.ofMillis(3),
                        Duration.ofMillis(3),
                        Duration.ofMillis(3),
                        Duration.ofMillis(6)));
        assertThat(to(1).p50()).isEqualTo(Duration.ofMillis(1));
        assertThat(Durations.of(List.of())).isEmpty();
    }
}
