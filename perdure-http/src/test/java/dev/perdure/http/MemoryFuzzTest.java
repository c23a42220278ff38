package dev.perdure.http;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

final class MemoryFuzzTest extends FuzzScenarios {
    @Override
    Store open() {
        return new MemoryStore();
    }
}
