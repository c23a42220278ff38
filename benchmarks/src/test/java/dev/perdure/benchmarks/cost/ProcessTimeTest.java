package dev.perdure.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ProcessTimeTest {
    @Test
    void a_name_with_spaces_and_parentheses_does_not_move_the_fields() {
        ProcessTime time =
                ProcessTime.parse("15391 (a (b) c) R 15388 15388 8298 0 -1 4194304 86 0 0 0 7 5 30 20 20 0 1 0 105919");
        assertThat(time).isEqualTo(new ProcessTime(15388, 120e6, 500e6));
    }
}
