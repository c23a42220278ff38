package dev.perdure.shards;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.conformance.contract.StoreContract;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The store contract on three shards, among which the runs of a case are divided. */
@Tag("thorough")
@ExtendWith({OneShardCases.Even.class, OneShardCases.OnThree.class})
final class ThreeShardsConformanceTest extends StoreContract {
    @Override
    protected Store freshStore(Supplier<Instant> time) {
        return MemoryShards.even(3, time);
    }

    @Test
    void every_case_that_is_left_out_is_there() {
        assertThat(new OneShardCases.OnThree().unknown()).isEmpty();
    }
}
