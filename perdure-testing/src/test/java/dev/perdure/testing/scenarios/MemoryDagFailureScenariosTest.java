package dev.perdure.testing.scenarios;

import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;

class MemoryDagFailureScenariosTest extends DagFailureScenarios {
    @Override
    protected PerdureTest create(TestMode mode) {
        return PerdureTest.create(mode);
    }
}
