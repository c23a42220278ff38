package dev.perdure.simulation;

import org.junit.jupiter.api.Test;

class WorkloadTest {
    @Test
    void the_invariants_hold_in_every_history() {
        Workload.histories().check(1, Long.getLong("simulation.seeds", 5_000), 2);
    }
}
