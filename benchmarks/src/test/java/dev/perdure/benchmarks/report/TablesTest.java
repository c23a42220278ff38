package dev.perdure.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TablesTest {
    private final Figures figures = new Figures();

    @Test
    void a_figure_is_the_median_of_its_rounds() {
        assertThat(Figure.of("perdure", "w1.c1", Unit.PER_SECOND, 300, 100, 200).line())
                .startsWith("perdure w1.c1 200 /s ")
                .endsWith("# 100 to 300 in 3 rounds");
    }

    @Test
    void a_small_number_keeps_three_digits() {
        assertThat(Figure.number(0.0021349)).isEqualTo("0.00213");
        assertThat(Figure.number(0.5704)).isEqualTo("0.570");
        assertThat(Figure.number(0)).isEqualTo("0");
    }

    @Test
    void a_ratio_is_above_one_where_perdure_is_better_whatever_the_unit() {
        figures.add(Figure.of("perdure", "rate", Unit.PER_SECOND, 300));
        figures.add(Figure.of("dbos", "rate", Unit.PER_SECOND, 100));
        figures.add(Figure.of("perdure", "time", Unit.MILLISECONDS, 20));
        figures.add(Figure.of("dbos", "time", Unit.MILLISECONDS, 10));
        assertThat(new RatioTable(figures, List.of("dbos")).lines())
                .contains("| `rate` | /s | 300 | 100 (3.00 ×) |", "| `time` | ms | 20 | 10 (0.50 ×) |");
    }

    @Test
    void costs_have_a_table_of_their_own_that_says_what_is_not_known() {
        figures.add(Figure.of("perdure", "w1.c64", Unit.PER_SECOND, 300));
        figures.add(Figure.of("perdure", "w1.c64.cpu.process", Unit.MICROSECONDS, 20));
        figures.add(Figure.of("perdure", "w1.c64.wal", Unit.BYTES, 1_000));
        figures.add(Figure.of("dbos", "w1.c64.cpu.process", Unit.MICROSECONDS, 300));
        figures.add(Figure.of("dbos", "w1.c64.wal", Unit.BYTES, 2_500));
        assertThat(new CostTable(figures, List.of("raw", "perdure", "dbos")).lines())
                .containsExactly(
                        "| operation | contender | processor time, µs | of that, the process, µs | of that, the server, µs | WAL, bytes"
                                + " | commits | round trips |",
                        "|---|---|---:|---:|---:|---:|---:|---:|",
                        "| `w1.c64` | perdure | not known | 20 | not known | 1000 | not known | not known |",
                        "| `w1.c64` | dbos | not known | 300 (15 ×) | not known | 2500 (2.50 ×) | not known | not known |");
        assertThat(new RatioTable(figures, List.of("dbos")).lines()).isEmpty();
    }

    @Test
    void a_target_is_told_as_reached_or_not() {
        figures.add(Figure.of("perdure", "w1.c64", Unit.PER_SECOND, 700));
        figures.add(Figure.of("dbos", "w1.c64", Unit.PER_SECOND, 100));
        figures.add(Figure.of("perdure", "w3.latency.p50", Unit.MILLISECONDS, 5.5));
        assertThat(new Targets(figures).lines())
                .contains(
                        "| w1.c64 relative to DBOS | ≥ 7 | 7 | reached |",
                        "| w3.latency.p50, ms | ≤ 5 | 5.500 | **not reached** |");
    }

    @Test
    void the_chart_draws_the_longest_bar_for_the_highest_rate() {
        figures.add(Figure.of("perdure", "w1.c64", Unit.PER_SECOND, 1_000));
        figures.add(Figure.of("dbos", "w1.c64", Unit.PER_SECOND, 500));
        assertThat(new Chart(figures).svg().orElseThrow())
                .contains("class=\"perdure\" x=\"110\" y=\"34\" width=\"530.0\"")
                .contains("class=\"dbos\" x=\"110\" y=\"52\" width=\"265.0\"");
    }
}
