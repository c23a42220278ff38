package dev.perdure.http;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

final class MemoryOverviewTest extends OverviewScenarios {
    @Override
    Store open() {
        return new MemoryStore();
    }
}
