package dev.perdure.shards;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;

final class ShardedEngineTest extends ShardedEngineCases {
    @Override
    Store open(String name) {
        return new MemoryStore();
    }

    @Override
    void drop() {}
}
