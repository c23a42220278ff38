package dev.perdure.testing.scenarios;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;

class MemoryInheritanceWalkTest extends InheritanceWalk {
    @Override
    Store open(Clockwork clockwork) {
        return new MemoryStore(clockwork);
    }
}
