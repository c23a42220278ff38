package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** All scenarios on three shards. */
@Tag("thorough")
@ExtendWith(ShardScenarios.LeftOutOnThree.class)
final class ThreeShardsScenariosTest extends ShardScenarios {
    ThreeShardsScenariosTest() {
        super(3);
    }

    @Test
    void every_scenario_that_is_left_out_is_there() {
        assertThat(new LeftOutOnThree().unknown()).isEmpty();
    }
}
