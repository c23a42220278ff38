package dev.perdure.testing.scenarios;

import org.junit.jupiter.api.Tag;

/** All scenarios on three shards. */
@Tag("thorough")
final class ThreeShardsScenariosTest extends ShardScenarios {
    ThreeShardsScenariosTest() {
        super(3);
    }
}
