package dev.perdure.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Clockwork.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The signals that every wait of the engine is made of. */
final class SystemSignalTest {
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Signal signal = new SystemClockwork().signal();

    @Test
    void one_that_was_raised_before_lets_one_wait_through() throws Exception {
        signal.raise();
        signal.raise();
        assertThat(signal.await(Clockwork.NEVER, Clockwork.NEVER)).isTrue();
        assertThat(signal.await(Clockwork.NEVER, MILLISECOND)).isFalse();
    }

    @Test
    void a_wait_ends_with_its_time_and_the_next_one_can_be_let_through() throws Exception {
        long began = System.nanoTime();
        assertThat(signal.await(20 * MILLISECOND, Clockwork.NEVER)).isFalse();
        assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(20 * MILLISECOND);
        assertThat(signal.await(0, 0)).isFalse();
        signal.raise();
        assertThat(signal.await(0, 0)).isTrue();
    }

    @Test
    void an_interrupt_ends_a_wait_and_takes_nothing_down() throws Exception {
        signal.raise();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> signal.await(Clockwork.NEVER, Clockwork.NEVER))
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(signal.await(Clockwork.NEVER, Clockwork.NEVER)).isTrue();
    }

    @Test
    void several_threads_that_wait_are_let_through_one_by_one() throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> waits = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                waits.add(executor.submit(() -> signal.await(Clockwork.NEVER, Clockwork.NEVER)));
            }
            while (waits.stream().anyMatch(wait -> !wait.isDone())) {
                signal.raise(); // raised again before it was taken down, it counts once
                Thread.onSpinWait();
            }
            for (Future<Boolean> wait : waits) {
                assertThat(wait.get()).isTrue();
            }
        }
    }

    @Test
    void no_call_is_lost_between_two_that_call_each_other() throws Exception {
        Signal back = new SystemClockwork().signal();
        int times = 50_000;
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> other = executor.submit(() -> {
                for (int i = 0; i < times; i++) {
                    signal.await(Clockwork.NEVER, Clockwork.NEVER);
                    back.raise();
                }
                return null;
            });
            for (int i = 0; i < times; i++) {
                signal.raise();
                assertThat(back.await(Clockwork.NEVER, TimeUnit.SECONDS.toNanos(10)))
                        .isTrue();
            }
            other.get();
        }
    }
}
