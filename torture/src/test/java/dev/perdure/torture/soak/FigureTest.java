package dev.perdure.torture.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FigureTest {
    private static final int MINUTES = 60;

    private static Figure figure(Unit unit, LongStream values) {
        return new Figure("figure", unit, values.boxed().toList());
    }

    @Test
    void a_table_that_gets_a_row_every_ten_seconds_grows() {
        assertThat(figure(Unit.ROWS, LongStream.range(0, MINUTES).map(minute -> 6 * minute))
                        .grows())
                .isTrue();
    }

    @Test
    void a_process_that_opens_a_file_every_four_minutes_grows() {
        assertThat(figure(Unit.COUNT, LongStream.range(0, MINUTES).map(minute -> 10 + minute / 4))
                        .grows())
                .isTrue();
    }

    @Test
    void what_fills_in_the_first_third_is_flat() {
        assertThat(figure(Unit.MEMORY, LongStream.range(0, MINUTES).map(minute -> Math.min(minute, 20) << 20))
                        .grows())
                .isFalse();
    }

    @Test
    void a_single_high_sample_is_no_growth() {
        List<Long> values = new ArrayList<>(Collections.nCopies(MINUTES, 10L));
        values.set(MINUTES - 1, 500L);
        Figure figure = new Figure("connections", Unit.COUNT, values);
        assertThat(figure.grows()).isFalse();
        assertThat(figure.text()).matches("connections +10 +10 +10   flat");
    }

    /** Minutes in which memory rises with the age of connections, which are replaced every so many minutes. */
    private static LongStream sawTooth(int life) {
        return LongStream.range(0, MINUTES).map(minute -> (400 + 400 * (minute % life) / life) << 20);
    }

    @Test
    void memory_that_falls_with_each_new_connection_is_flat_if_thirds_have_whole_lives() {
        int life = (int) new Soak.Plan(MINUTES, Duration.ofMinutes(1), Duration.ofSeconds(1), Path.of("logs"))
                .life()
                .toMinutes();
        assertThat(figure(Unit.MEMORY, sawTooth(life)).grows()).isFalse();
        assertThat(figure(Unit.MEMORY, sawTooth(29)).grows())
                .as("with lives that no third has whole")
                .isTrue();
    }

    @Test
    void memory_that_outlives_connections_grows() {
        LongStream leak = LongStream.range(0, MINUTES).map(minute -> (400 + 400 * (minute % 6) / 6 + 5 * minute) << 20);
        assertThat(figure(Unit.MEMORY, leak).grows()).isTrue();
    }

    @Test
    void the_verdict_names_both_medians() {
        Figure figure = figure(Unit.STORED, LongStream.range(0, 9).map(sample -> (sample + 1) << 20));
        assertThat(figure.text()).matches("figure +1,024 kB +5,120 kB +8,192 kB   GROWS");
    }
}
