package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.simulation.store.Defects;
import dev.perdure.torture.fault.Faults;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The checker finds defects of the store. Of those of the simulation that are missing here, PostgreSQL refuses most:
 * the fence is in its statements, and its clock decides about timers.
 */
@Tag("thorough")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class PlantedDefectsIT {
    @TempDir
    private Path logs;

    @ParameterizedTest
    @CsvSource({"LOST_WAKE_UP, KILL", "ANSWER_TAKEN_TWICE, KILL", "KEY_HANDED_TO_TWO, KILL", "HINT_AS_TRUTH, SILENCE"})
    void is_found_within_five_minutes(Defects defect, Faults fault) throws Exception {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        Plan plan = new Plan(42, Duration.ofSeconds(10), Duration.ZERO, List.of(fault), 2, Optional.of(defect), logs);
        try (Torture torture = new Torture(plan, nowhere)) {
            List<String> violations = torture.run().violations();
            System.out.printf("%s: %s%n", defect, violations.stream().findFirst());
            assertThat(violations).isNotEmpty();
        }
    }
}
