package dev.perdure.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ProcessorsTest {
    @Test
    void the_share_of_others_is_that_of_the_time_between() {
        Processors before = Processors.parse("cpu  100 0 50 800 10 0 0 40 7 0").orElseThrow();
        Processors after = Processors.parse("cpu  150 0 70 820 10 0 0 50 9 0").orElseThrow();
        assertThat(before).isEqualTo(new Processors(1000, 40));
        assertThat(after.stolenSince(before)).isEqualTo(0.1);
        assertThat(before.stolenSince(before)).isZero();
    }

    @Test
    void a_system_that_counts_less_tells_nothing() {
        assertThat(Processors.parse("cpu  100 0 50 800")).isEmpty();
    }
}
