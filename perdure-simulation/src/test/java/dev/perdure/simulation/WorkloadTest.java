package dev.perdure.simulation;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code -Dsimulation.seeds=5000} for more histories. The limit leaves room for a busy machine. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class WorkloadTest {
    @Test
    void the_invariants_hold_in_every_history() {
        Workload.histories().check(1, Long.getLong("simulation.seeds", 2_000), 2);
    }
}
