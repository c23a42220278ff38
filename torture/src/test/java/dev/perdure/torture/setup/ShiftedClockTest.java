package dev.perdure.torture.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All classes of a process see another time. */
@Timeout(30)
class ShiftedClockTest {
    @TempDir
    private Path logs;

    /** Says what time it is, in both ways. Long and double constants take two places in a class file. */
    static final class Clock {
        private static final long MANY = 123_456_789_012L;
        private static final double HALF = 0.123;

        private Clock() {}

        public static void main(String... arguments) throws IOException {
            System.out.println("ready");
            System.out.println("clock " + Instant.now() + " " + System.currentTimeMillis() + " " + MANY + " " + HALF);
            System.in.readAllBytes();
        }
    }

    @Test
    void the_clock_of_a_process_is_an_hour_behind() throws Exception {
        try (Workers workers = new Workers(Clock.class, 1, List.of(), logs);
                WorkerProcess behind = workers.beside(ShiftedClock.option(Duration.ofHours(-1)), List.of())) {
            String[] said = behind.ask("clock").split(" ", -1);
            Instant wanted = Instant.now().minus(Duration.ofHours(1));
            assertThat(Instant.parse(said[0])).isCloseTo(wanted, within(1, ChronoUnit.MINUTES));
            assertThat(Instant.ofEpochMilli(Long.parseLong(said[1]))).isCloseTo(wanted, within(1, ChronoUnit.MINUTES));
            assertThat(said[2]).isEqualTo("123456789012");
        }
    }
}
