package dev.perdure.http.internal.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.statistics.Statistics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** On a store in which one run starts every second, and which notes what it is asked. */
final class RateWindowTest {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

    private final List<Integer> asked = new ArrayList<>();
    private long now = Duration.ofHours(1).toSeconds();
    private boolean busy;
    private boolean hides;
    private boolean idle;

    private final Statistics store = new Statistics() {
        @Override
        public Rates rates(int seconds, int most) {
            asked.add(seconds);
            long from = busy ? now - 1 : now - seconds;
            List<Second> each = LongStream.range(idle ? now : from, now)
                    .mapToObj(second -> new Second(at(second), 1, 0, 0))
                    .toList();
            return new Rates(at(from), at(now), each, hides);
        }

        @Override
        public List<Seen> newest(RunSelection selection, Duration within, int limit) {
            return List.of();
        }

        @Override
        public List<StepTime> steps(Collection<RunRef> runs, int most) {
            return List.of();
        }

        @Override
        public Histogram histogram(RunSelection selection, Span span) {
            return new Histogram(List.of(), 1, false);
        }

        @Override
        public List<Wait> waits(Span span, int most) {
            return List.of();
        }
    };

    private final RateWindow window =
            new RateWindow(store, () -> Duration.ofSeconds(now).toNanos());

    private static Instant at(long second) {
        return BEGINNING.plusSeconds(second);
    }

    private void checkEverySecondOnce(int seconds) {
        RateWindow.Window rates = window.last(seconds);
        assertThat(rates.to()).isEqualTo(at(now));
        assertThat(rates.from()).isEqualTo(at(now - seconds));
        assertThat(rates.seconds())
                .extracting(Statistics.Second::begin)
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(rates.seconds()).hasSize(seconds);
    }

    @Test
    void requests_of_one_second_ask_once_and_later_ones_only_for_what_is_new() {
        checkEverySecondOnce(300);
        checkEverySecondOnce(10);
        assertThat(asked).containsExactly(600);
        now += 1;
        checkEverySecondOnce(300);
        checkEverySecondOnce(300);
        now += 20;
        checkEverySecondOnce(600);
        assertThat(asked).containsExactly(600, 5, 24);
    }

    @Test
    void a_window_that_nobody_has_asked_for_begins_anew() {
        window.last(300);
        now += 10_000;
        checkEverySecondOnce(600);
        assertThat(asked).containsExactly(600, 600);
    }

    private List<Long> secondsAgo(int seconds) {
        return window.last(seconds).seconds().stream()
                .map(second -> now - Duration.between(BEGINNING, second.begin()).toSeconds())
                .toList();
    }

    @Test
    void seconds_of_which_the_store_tells_nothing_are_left_out_and_the_others_stay() {
        window.last(300);
        busy = true;
        now += 5;
        assertThat(window.last(300).from()).isEqualTo(at(now - 300));
        assertThat(secondsAgo(8)).containsExactly(8L, 7L, 6L, 1L);
        now += 3;
        assertThat(secondsAgo(8)).containsExactly(4L, 1L);
        busy = false;
        now += 1;
        assertThat(secondsAgo(8)).containsExactly(5L, 4L, 3L, 2L, 1L);
    }

    @Test
    void seconds_in_which_nothing_happened_are_not_left_out() {
        idle = true;
        assertThat(secondsAgo(3)).containsExactly(3L, 2L, 1L);
    }

    @Test
    void what_is_not_known_is_forgotten_when_it_is_out_of_the_window() {
        window.last(300);
        busy = true;
        now += 5;
        window.last(300);
        busy = false;
        for (int i = 0; i < 6; i++) {
            now += 100;
            window.last(300);
        }
        checkEverySecondOnce(600);
    }

    @Test
    void ends_that_may_be_missing_are_told_until_they_are_out_of_the_window() {
        hides = true;
        assertThat(window.last(10).more()).isTrue();
        hides = false;
        now += 5;
        assertThat(window.last(10).more()).isTrue();
        now += 5;
        assertThat(window.last(10).more()).isFalse();
        assertThat(window.last(20).more()).isTrue();
    }
}
