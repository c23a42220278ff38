package dev.perdure.shards;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.conformance.contract.StoreContract;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The store contract on two shards of which the first has almost all runs. */
@Tag("thorough")
@ExtendWith(OneShardCases.Uneven.class)
final class UnevenShardsConformanceTest extends StoreContract {
    @Override
    protected Store freshStore(Supplier<Instant> time) {
        return MemoryShards.uneven(time);
    }

    @Test
    void every_case_that_is_left_out_is_there() {
        assertThat(new OneShardCases.Uneven().unknown()).isEmpty();
    }
}
