package dev.perdure.testing.internal.simulation;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class SchedulerTest {
    private static final class Elsewhere {
        private Elsewhere() {}

        static void waits() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
    }

    @Test
    void code_that_blocks_outside_of_the_simulation_is_refused() {
        Choices choices = Choices.of(1);
        Scheduler scheduler = new Scheduler(choices, Timeline.forgotten());
        scheduler.patience(Duration.ofMillis(300));
        SimulatedProcess home = new SimulatedProcess("test", scheduler, choices, false);
        assertThatThrownBy(() -> scheduler.run(home, Elsewhere::waits, () -> List.of(home)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("The thread 'test/test' has had the turn for PT0.3S")
                .hasMessageContaining("Code in a simulation must not block outside of it: use Simulation.pause")
                .hasStackTraceContaining("Elsewhere.waits");
    }

    @Test
    void a_thread_that_is_not_part_of_the_simulation_fails_the_history_even_if_it_does_not_mind() {
        Choices choices = Choices.of(1);
        Scheduler scheduler = new Scheduler(choices, Timeline.forgotten());
        SimulatedProcess home = new SimulatedProcess("test", scheduler, choices, false);
        assertThatThrownBy(() -> scheduler.run(
                        home,
                        () -> {
                            Thread stranger = Thread.ofPlatform()
                                    .name("stranger")
                                    .start(() -> {
                                        try {
                                            scheduler.pause(1);
                                        } catch (IllegalStateException refused) {
                                            // ignored
                                        }
                                    });
                            try {
                                stranger.join();
                            } catch (InterruptedException interrupted) {
                                throw new IllegalStateException(interrupted);
                            }
                        },
                        () -> List.of(home)))
                .hasMessageContaining("The thread 'stranger' is not part of the simulation, and used the engine.")
                .hasMessageContaining("start threads with Simulation.run");
    }
}
