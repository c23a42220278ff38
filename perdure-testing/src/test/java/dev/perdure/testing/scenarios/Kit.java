package dev.perdure.testing.scenarios;

import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;

/** Supplies the engine that a scenario uses. */
interface Kit {
    /** An engine on the store under test. */
    PerdureTest create(TestMode mode);
}
