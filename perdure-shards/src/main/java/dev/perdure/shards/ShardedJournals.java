package dev.perdure.shards;

import dev.perdure.spi.Journals;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Parts;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The journals, each on the shard of its run. */
final class ShardedJournals implements Journals {
    private final Shards shards;

    ShardedJournals(Shards shards) {
        this.shards = shards;
    }

    @Override
    public Page read(RunRef run, int afterPosition, int maxBytes) {
        return shards.having(run).journals().read(run, afterPosition, maxBytes);
    }

    @Override
    public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
        Map<RunRef, Page> first = new HashMap<>();
        Parts.divide(runs, shards::of)
                .forEach((shard, some) ->
                        first.putAll(shards.store(shard).journals().readFirst(some, maxBytes)));
        return first;
    }

    @Override
    public TimedPage readByTime(RunRef run, TimePlace after, int limit, int maxBytes) {
        return shards.having(run).journals().readByTime(run, after, limit, maxBytes);
    }
}
