package dev.perdure.testing.scenarios;

import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;

/** Scenarios on the in-memory store. */
interface InMemory extends Kit {
    @Override
    default PerdureTest create(TestMode mode) {
        return PerdureTest.create(mode);
    }
}
