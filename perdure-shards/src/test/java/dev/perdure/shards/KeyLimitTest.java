package dev.perdure.shards;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

final class KeyLimitTest extends KeyLimitCases {
    @Override
    Store open(String name) {
        return new MemoryStore();
    }

    @Override
    void drop() {}
}
