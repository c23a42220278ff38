package dev.perdure.http;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

final class MemoryRoutesTest extends RoutesScenarios {
    @Override
    Store open() {
        return new MemoryStore();
    }
}
