package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.torture.defect.Planted;
import dev.perdure.torture.fault.Faults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The checker finds defects of the store, and each by the rule that the defect breaks. Those of the simulation that are
 * missing here cannot be planted in front of PostgreSQL, whose statements and whose clock decide.
 */
@Tag("thorough")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class PlantedDefectsIT {
    @TempDir
    private Path logs;

    /**
     * The faults that reveal a defect. One that shows without any has a kill, which is what happens most; a kill hides
     * what a process remembers, and silence lets processes live, and objects rest between calls. Silence also keeps a
     * message from being heard of at once, which a lost wake-up needs.
     */
    private static List<Faults> revealing(Planted defect) {
        return switch (defect) {
            case SKIPPED_CHECK -> Collections.nCopies(3, Faults.SEVER);
            case LOST_WAKE_UP, STALE_STATE, HINT_AS_TRUTH -> Collections.nCopies(3, Faults.SILENCE);
            case ANSWER_TAKEN_TWICE, CONFLICT_IGNORED, KEY_HANDED_TO_TWO, LIMIT_WITHOUT_ROW, EAGER_RETENTION ->
                List.of(Faults.KILL);
        };
    }

    /** What is said of it. */
    private static String violation(Planted defect) {
        return switch (defect) {
            case SKIPPED_CHECK -> "Execution .* ran \\d+ bodies that are not recorded\\.";
            case LOST_WAKE_UP, HINT_AS_TRUTH -> "\\d+ runs have not ended 120 s after the last fault\\.";
            case ANSWER_TAKEN_TWICE -> "\\d+ messages that a completed run has not taken are left .*";
            case CONFLICT_IGNORED -> "The starts of 'steps' have ended: .* was started with two inputs\\.";
            case KEY_HANDED_TO_TWO, STALE_STATE -> "The list 'key-\\d' is .*";
            case LIMIT_WITHOUT_ROW -> "\\d+ runs .*were begun at once, and the queue allows \\d\\.";
            case EAGER_RETENTION -> "The results of '.*' cannot be read: There is no run .*";
        };
    }

    @ParameterizedTest
    @EnumSource
    void is_found_within_five_minutes(Planted defect) throws Exception {
        Plan plan = new Plan(
                new Plan.FaultPlan(42, Duration.ofSeconds(10), Duration.ZERO, revealing(defect), false),
                Plan.Setup.of(2, Optional.of(defect)),
                logs);
        long begun = System.nanoTime();
        try (Torture torture = new Torture(plan, System.out)) {
            Report report = torture.run();
            System.out.println(report.text());
            List<String> found = report.violations().stream()
                    .filter(each -> each.matches(violation(defect)))
                    .toList();
            System.out.printf(
                    "%s after %d s: %d violations, such as %s%n",
                    defect,
                    Duration.ofNanos(System.nanoTime() - begun).toSeconds(),
                    found.size(),
                    found.stream().findFirst());
            assertThat(found).as("among %s", report.violations()).isNotEmpty();
            assertThat(report.struck().values())
                    .allSatisfy(strikes -> assertThat(strikes.injected()).isPositive());
        }
    }
}
