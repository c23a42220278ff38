package dev.perdure.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.simulation.store.Defects;
import dev.perdure.testing.internal.simulation.Histories;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("thorough")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PlantedDefectsTest {
    private static final int SEEDS = 2_000;

    @ParameterizedTest
    @EnumSource
    void a_planted_defect_is_found(Defects defect) {
        Histories histories = Workload.histories(new Coverage(), defect::in, defect::seen);
        long seed = 1;
        while (seed <= SEEDS && histories.run(seed).failure() == null) {
            seed++;
        }
        assertThat(seed).as("the seed that finds %s", defect).isLessThanOrEqualTo(SEEDS);
    }
}
