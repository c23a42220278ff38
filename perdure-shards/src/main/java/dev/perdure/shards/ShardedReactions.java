package dev.perdure.shards;

import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.ReactionRules;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reactions. Every shard knows all of them, and starts their runs beside the runs that they are about. */
final class ShardedReactions implements ReactionRules {
    private final Shards shards;

    ShardedReactions(Shards shards) {
        this.shards = shards;
    }

    @Override
    public void declare(Collection<ReactionInfo> reactions) {
        shards.tell(store -> store.reactions().declare(reactions));
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        boolean known = false;
        for (Shard shard : shards.all()) {
            known |= shard.store().reactions().apply(order, audit);
        }
        return known;
    }

    @Override
    public List<ReactionInfo> list() {
        return shards.store(0).reactions().list();
    }
}
