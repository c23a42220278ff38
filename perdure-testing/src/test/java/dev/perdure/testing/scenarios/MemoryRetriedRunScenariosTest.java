package dev.perdure.testing.scenarios;

import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;

class MemoryRetriedRunScenariosTest extends RetriedRunScenarios {
    @Override
    protected PerdureTest create(TestMode mode) {
        return PerdureTest.create(mode);
    }
}
