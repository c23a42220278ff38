package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All scenarios on two shards. */
@Tag("thorough")
final class TwoShardsScenariosTest extends ShardScenarios {
    TwoShardsScenariosTest() {
        super(2);
    }

    @Test
    void every_scenario_that_is_left_out_is_there() {
        assertThat(new LeftOut().unknown()).isEmpty();
    }
}
