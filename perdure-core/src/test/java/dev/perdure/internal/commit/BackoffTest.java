package dev.perdure.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private final ManualClockwork clockwork = new ManualClockwork(0);
    private final Backoff backoff = new Backoff(clockwork);

    private void pause(int times) {
        for (int i = 0; i < times; i++) {
            backoff.pause();
        }
    }

    @Test
    void each_wait_is_twice_as_long_as_the_one_before_up_to_a_second() {
        pause(9);
        assertThat(clockwork.waits())
                .isEqualTo(Stream.of(10, 20, 40, 80, 160, 320, 640, 1_000, 1_000)
                        .map(Duration::ofMillis)
                        .toList());
    }

    @Test
    void a_gentle_one_adds_little_to_what_it_waits_for() {
        Backoff gentle = Backoff.gentle(clockwork);
        long waited = 0;
        for (int i = 0; i < 40; i++) {
            gentle.pause();
            long last = clockwork.waits().getLast().toNanos();
            assertThat(last).isLessThanOrEqualTo(Math.max(Duration.ofMillis(25).toNanos(), waited / 4 + 10_000_000));
            waited += last;
        }
        assertThat(clockwork.waits().getLast()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void chance_shortens_a_wait_by_less_than_half() {
        clockwork.random(-1);
        pause(2);
        assertThat(clockwork.waits())
                .containsExactly(
                        Duration.ofMillis(5).plusNanos(1), Duration.ofMillis(10).plusNanos(1));
    }

    @Test
    void after_an_answer_the_next_wait_is_short_again() {
        pause(3);
        backoff.reset();
        pause(2);
        assertThat(clockwork.waits().subList(3, 5)).containsExactly(Duration.ofMillis(10), Duration.ofMillis(20));
    }
}
