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
    void what_tuning_gains_is_the_column_after_the_defaults() {
        figures.add(Figure.of("perdure", "rate", Unit.PER_SECOND, 300));
        figures.add(Figure.of("tuned", "rate", Unit.PER_SECOND, 360));
        figures.add(Figure.of("dbos", "rate", Unit.PER_SECOND, 100));
        assertThat(new RatioTable(figures, List.of("dbos")).lines())
                .contains(
                        "| metric | unit | perdure | tuned | dbos |",
                        "| `rate` | /s | 300 | 360 (1.20 ×) | 100 (3.00 ×) |");
    }

    @Test
    void a_goal_is_told_as_reached_or_not_by_the_figure_with_defaults() {
        figures.add(Figure.of("perdure", "w1.c64", Unit.PER_SECOND, 1_000));
        figures.add(Figure.of("tuned", "w1.c64", Unit.PER_SECOND, 1_100));
        figures.add(Figure.of("dbos", "w1.c64", Unit.PER_SECOND, 100));
        figures.add(Figure.of("perdure", "w3.latency.p50", Unit.MILLISECONDS, 5.5));
        figures.add(Figure.of("tuned", "w3.latency.p50", Unit.MILLISECONDS, 3));
        figures.add(Figure.of("perdure", "w1.c64.cpu", Unit.MICROSECONDS, 200));
        figures.add(Figure.of("dbos", "w1.c64.cpu", Unit.MICROSECONDS, 1_500));
        assertThat(new Goals(figures).lines())
                .containsExactly(
                        "| goal | wanted | with defaults | | tuned |",
                        "|---|---:|---:|---|---:|",
                        "| w1.c64 relative to DBOS | ≥ 10 | 10 | reached | 11 |",
                        "| w3.latency.p50, ms | ≤ 4 | 5.500 | **not reached** | 3 |",
                        "| processor time of w1.c64: DBOS's relative to Perdure's | ≥ 8 | 7.500 | **not reached** | – |");
    }

    @Test
    void all_goals_are_listed_also_those_that_were_not_measured() {
        figures.add(Figure.of("perdure", "footprint.connections", Unit.COUNT, 9));
        assertThat(new Goals(figures).all())
                .contains(
                        "| footprint.connections | ≤ 9 | 9 | reached | – |",
                        "| w7.lists: beside finished runs, relative to an empty database | ≥ 0.9 | – | not measured | – |")
                .last()
                .isEqualTo("1 of 46 goals are reached; 45 were not measured.");
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
