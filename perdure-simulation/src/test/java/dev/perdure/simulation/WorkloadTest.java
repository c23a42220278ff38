package dev.perdure.simulation;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code -Dsimulation.seeds=20000} for more histories. The limit leaves room for a busy machine. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class WorkloadTest {
    private static final long FIRST = 200;

    @Test
    void the_invariants_hold_in_the_first_histories() {
        Workload.histories().check(1, FIRST, 2);
    }

    @Test
    @Tag("thorough")
    void the_invariants_hold_in_every_history() {
        Workload.histories().check(FIRST + 1, Long.getLong("simulation.seeds", 5_000), 2);
    }
}
