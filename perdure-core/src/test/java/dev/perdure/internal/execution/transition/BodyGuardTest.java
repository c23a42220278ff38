package dev.perdure.internal.execution.transition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.perdure.internal.execution.transition.BodyGuard.Cause;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BodyGuardTest {
    /** Rings its alarms when the test says so. */
    private static final class ManualAlarms implements Clockwork {
        private final Clockwork system = new SystemClockwork();
        private final List<Runnable> alarms = new ArrayList<>();
        private int takenBack;

        @Override
        public Instant now() {
            return system.now();
        }

        @Override
        public long nanoTime() {
            return system.nanoTime();
        }

        @Override
        public long random() {
            return system.random();
        }

        @Override
        public Signal signal() {
            return system.signal();
        }

        @Override
        public void fork(String name, Runnable task) {
            system.fork(name, task);
        }

        @Override
        public void loop(String name, Runnable task) {
            system.loop(name, task);
        }

        @Override
        public Runnable alarm(Duration delay, Runnable task) {
            alarms.add(task);
            return () -> takenBack++;
        }
    }

    private static final Duration LIMIT = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ManualAlarms clockwork = new ManualAlarms();
    private final BodyGuard guard = new BodyGuard(clockwork);

    @AfterEach
    void no_interrupt_is_left_on_the_thread() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private static String sleepUntilInterrupted() throws InterruptedException {
        boolean opened = new CountDownLatch(1).await(10, TimeUnit.SECONDS);
        return "no interrupt came: " + opened;
    }

    @Test
    void nothing_is_interrupted_outside_a_body() throws Exception {
        guard.interrupt(Cause.CANCEL);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(guard.<String>run(() -> "done", null)).isEqualTo("done");
        guard.interrupt(Cause.LOST);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(guard.abandon()).isFalse();
        assertThat(guard.abandoned()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void an_interrupted_body_says_why_and_keeps_what_it_threw(Cause cause) {
        Throwable thrown = catchThrowable(() -> guard.<String>run(
                () -> {
                    guard.interrupt(cause);
                    return sleepUntilInterrupted();
                },
                null));
        assertThat(thrown).isInstanceOf(BodyGuard.Interrupted.class);
        assertThat(((BodyGuard.Interrupted) thrown).why()).isEqualTo(cause);
        assertThat(((BodyGuard.Interrupted) thrown).fromBody()).isInstanceOf(InterruptedException.class);
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"CANCEL", "DEADLINE"})
    void a_result_counts_in_spite_of_a_cancel_or_a_deadline(Cause cause) throws Exception {
        String result = guard.run(
                () -> {
                    guard.interrupt(cause);
                    return "it happened";
                },
                null);
        assertThat(result).isEqualTo("it happened");
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"TIMEOUT", "LOST", "ABANDONED"})
    void a_late_result_is_ignored(Cause cause) {
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            guard.interrupt(cause);
                            return "too late";
                        },
                        null))
                .isInstanceOf(BodyGuard.Interrupted.class)
                .hasMessage(cause.name());
    }

    @Test
    void the_stronger_cause_wins() {
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            guard.interrupt(Cause.CANCEL);
                            guard.interrupt(Cause.TIMEOUT);
                            return sleepUntilInterrupted();
                        },
                        null))
                .hasMessage("CANCEL");
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            guard.interrupt(Cause.TIMEOUT);
                            guard.interrupt(Cause.LOST);
                            return sleepUntilInterrupted();
                        },
                        null))
                .hasMessage("LOST");
    }

    @Test
    void a_cause_does_not_outlive_its_body() throws Exception {
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            guard.interrupt(Cause.TIMEOUT);
                            return "late";
                        },
                        null))
                .hasMessage("TIMEOUT");
        assertThat(guard.<String>run(() -> "next", null)).isEqualTo("next");
    }

    @Test
    void an_alarm_interrupts_its_own_body_and_no_later_one() throws Exception {
        assertThat(guard.<String>run(() -> "in time", BodyLimits.of(LIMIT, null)))
                .isEqualTo("in time");
        assertThat(clockwork.takenBack).isEqualTo(1);
        Runnable late = clockwork.alarms.getFirst();
        String second = guard.run(
                () -> {
                    late.run(); // was on its way when the first body ended
                    return "undisturbed";
                },
                BodyLimits.of(LIMIT, null));
        assertThat(second).isEqualTo("undisturbed");
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            clockwork.alarms.getLast().run();
                            return sleepUntilInterrupted();
                        },
                        BodyLimits.of(LIMIT, null)))
                .hasMessage("TIMEOUT");
    }

    /** Rings the last alarm that was set, so often, or until the body is interrupted. */
    private void ring(int times) {
        for (int i = 0; i < times && !Thread.currentThread().isInterrupted(); i++) {
            clockwork.alarms.getLast().run();
        }
    }

    @Test
    void a_body_that_reports_nothing_for_too_long_is_interrupted() {
        BodyLimits limits = Objects.requireNonNull(BodyLimits.of(LONG, LIMIT));
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            ring(4);
                            return sleepUntilInterrupted();
                        },
                        limits))
                .hasMessage("TIMEOUT");
        assertThat(limits.reason()).isEqualTo("reported nothing for longer than PT1S, its heartbeat timeout");
        assertThat(clockwork.takenBack).isEqualTo(2);
    }

    @Test
    void a_body_that_reports_something_goes_on() throws Exception {
        BodyLimits limits = Objects.requireNonNull(BodyLimits.of(null, LIMIT));
        String result = guard.run(
                () -> {
                    for (int i = 0; i < 10; i++) {
                        limits.beat();
                        ring(4); // the first look finds the report, three do not
                    }
                    return Thread.currentThread().isInterrupted() ? "interrupted" : "undisturbed";
                },
                limits);
        assertThat(result).isEqualTo("undisturbed");
    }

    @Test
    void an_extended_timeout_ends_later() {
        BodyLimits limits = Objects.requireNonNull(BodyLimits.of(LIMIT, null));
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            limits.extend(LONG);
                            limits.extend(LIMIT);
                            ring(1); // when the timeout would have ended
                            if (Thread.currentThread().isInterrupted()) {
                                throw new IllegalStateException("interrupted too early");
                            }
                            ring(1);
                            return sleepUntilInterrupted();
                        },
                        limits))
                .hasMessage("TIMEOUT");
        assertThat(clockwork.alarms).hasSize(2);
        assertThat(limits.reason()).isEqualTo("took longer than PT1M2S, its extended timeout");
    }

    @Test
    void extensions_end_at_the_longest_timeout() {
        BodyLimits limits = Objects.requireNonNull(BodyLimits.of(LIMIT, null));
        limits.extend(Duration.ofDays(36_500));
        limits.extend(Duration.ofDays(36_500));
        assertThat(limits.reason()).isEqualTo("took longer than PT876000H, its extended timeout");
    }

    @Test
    void a_run_is_abandoned_once_and_for_good() {
        List<Boolean> answers = new ArrayList<>();
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            answers.add(guard.abandon());
                            answers.add(guard.abandon());
                            return sleepUntilInterrupted();
                        },
                        null))
                .hasMessage("ABANDONED");
        assertThat(answers).containsExactly(true, false);
        assertThat(guard.abandoned()).isTrue();
        assertThatThrownBy(() -> guard.<String>run(() -> "ignored", null)).hasMessage("ABANDONED");
    }

    @Test
    void what_a_body_throws_by_itself_comes_out_as_it_is() {
        assertThatThrownBy(() -> guard.<String>run(
                        () -> {
                            throw new java.io.IOException("disk");
                        },
                        null))
                .isInstanceOf(java.io.IOException.class)
                .hasMessage("disk");
    }
}
