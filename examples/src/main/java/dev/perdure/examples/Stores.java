package dev.perdure.examples;

import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

/** Where the runs of the {@code main} methods live. */
final class Stores {
    private Stores() {}

    /** A store that forgets everything when the process ends: enough to try things out. */
    static Store inMemory() {
        return new MemoryStore(new SystemClockwork());
    }
}
