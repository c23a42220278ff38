package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Retention. What is declared or changed holds on every shard, and each shard removes its own runs. */
final class ShardedRemovals implements Removals {
    private final Shards shards;

    ShardedRemovals(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void declare(Retention retention) {
        shards.tell(store -> store.removals().declare(retention));
    }

    @Override
    public void change(@Nullable Retention retention, @Nullable Audit audit) {
        shards.tell(store -> store.removals().change(retention, audit));
    }

    @Override
    public RetentionInfo info() {
        return shards.ask(store -> store.removals().info()).stream()
                .reduce((one, other) -> new RetentionInfo(
                        one.declared(),
                        one.changed(),
                        new RetentionInfo.Pass(
                                ShardedQueues.earlier(
                                        one.pass().began(), other.pass().began()),
                                one.pass().looked() + other.pass().looked(),
                                one.pass().removed() + other.pass().removed()),
                        ShardedQueues.earlier(one.nextPass(), other.nextPass())))
                .orElseThrow();
    }

    @Override
    public Removed remove(int limit) {
        List<Removed> all = shards.ask(store -> store.removals().remove(limit));
        return new Removed(
                all.stream().mapToInt(Removed::runs).sum(),
                all.stream().map(Removed::again).min(Comparator.naturalOrder()).orElse(Duration.ZERO));
    }

    @Override
    public Outcome delete(RunId run, Change.Seen seen, Audit audit) {
        return shards.having(run).removals().delete(run, seen, audit);
    }
}
