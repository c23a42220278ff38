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
    void a_ratio_is_above_one_where_perdure_is_better_whatever_the_unit() {
        figures.add(Figure.of("perdure", "rate", Unit.PER_SECOND, 300));
        figures.add(Figure.of("dbos", "rate", Unit.PER_SECOND, 100));
        figures.add(Figure.of("perdure", "time", Unit.MILLISECONDS, 20));
        figures.add(Figure.of("dbos", "time", Unit.MILLISECONDS, 10));
        assertThat(new RatioTable(figures, List.of("dbos")).lines())
                .contains("| `rate` | /s | 300 | 100 (3.00 ×) |", "| `time` | ms | 20 | 10 (0.50 ×) |");
    }

    @Test
    void a_target_is_told_as_reached_or_not() {
        figures.add(Figure.of("perdure", "w1.c64", Unit.PER_SECOND, 700));
        figures.add(Figure.of("dbos", "w1.c64", Unit.PER_SECOND, 100));
        figures.add(Figure.of("perdure", "w3.latency.p50", Unit.MILLISECONDS, 5.5));
        assertThat(new Targets(figures).lines())
                .contains(
                        "| w1.c64 by DBOS | ≥ 7 | 7 | reached |",
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
