package dev.perdure.testing.scenarios;

import dev.perdure.shards.MemoryShards;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import org.junit.jupiter.api.Nested;

/** The scenarios of messages, which cross between shards, on two of them. {@link TwoShardsScenariosTest} has all. */
final class ShardedScenariosTest {
    private interface OnShards extends Kit {
        @Override
        default PerdureTest create(TestMode mode) {
            return PerdureTest.on(clockwork -> MemoryShards.even(2, clockwork), mode);
        }
    }

    @Nested
    final class Messages extends MessageScenarios implements OnShards {}
}
