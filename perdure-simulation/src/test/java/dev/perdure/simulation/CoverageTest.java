package dev.perdure.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.testing.internal.simulation.Aim;
import dev.perdure.testing.internal.simulation.Histories;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("thorough")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CoverageTest {
    private static final int MOST_TRIES = 100;
    private static final int MOST_FOR_EDGES = 2_000;

    private final Coverage coverage = new Coverage();
    private final Histories histories = Workload.histories(coverage);

    @Test
    void every_edge_and_every_pair_is_tried_unless_it_is_exempt() {
        Aim.all().parallelStream()
                .filter(pair -> Exempt.why(pair).isEmpty())
                .forEach(pair -> pair.seeds()
                        .limit(MOST_TRIES)
                        .takeWhile(seed -> !coverage.has(pair))
                        .forEach(this::run));
        LongStream.rangeClosed(1, MOST_FOR_EDGES)
                .takeWhile(seed -> !coverage.missingEdges().isEmpty())
                .forEach(this::run);

        assertThat(coverage.missingPairs()).isEmpty();
        assertThat(coverage.missingEdges()).isEmpty();
    }

    private void run(long seed) {
        assertThat(histories.run(seed).failure()).as("seed %d", seed).isNull();
    }
}
