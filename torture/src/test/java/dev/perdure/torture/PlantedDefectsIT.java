package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.defect.Planted;
import dev.perdure.torture.fault.Faults;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The checker finds defects of the store. Those of the simulation that are missing here cannot be planted in front of
 * PostgreSQL, whose statements and whose clock decide.
 */
@Tag("thorough")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class PlantedDefectsIT {
    /** A kill hides what a process remembers; silence lets processes live, and objects rest between calls. */
    private static final Map<Planted, Faults> REVEALING = Map.of(
            Planted.SKIPPED_CHECK, Faults.SEVER,
            Planted.STALE_STATE, Faults.SILENCE,
            Planted.HINT_AS_TRUTH, Faults.SILENCE);

    @TempDir
    private Path logs;

    @ParameterizedTest
    @EnumSource
    void is_found_within_five_minutes(Planted defect) throws Exception {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        List<Faults> faults = Collections.nCopies(3, REVEALING.getOrDefault(defect, Faults.KILL));
        Plan plan = new Plan(
                new Plan.FaultPlan(42, Duration.ofSeconds(10), Duration.ZERO, faults),
                Plan.Setup.of(2, Optional.of(defect)),
                logs);
        try (Torture torture = new Torture(plan, nowhere)) {
            List<String> violations = torture.run().violations();
            System.out.printf("%s: %s%n", defect, violations.stream().findFirst());
            assertThat(violations).isNotEmpty();
        }
    }
}
