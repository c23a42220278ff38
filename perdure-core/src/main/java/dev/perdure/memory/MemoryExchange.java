package dev.perdure.memory;

import dev.perdure.spi.shard.Exchange;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The store in memory as one of several shards. */
final class MemoryExchange implements Exchange {
    private final Tables tables;
    private @Nullable Membership membership;

    MemoryExchange(Tables tables) {
        this.tables = tables;
    }

    @Override
    public Optional<Membership> membership() {
        return tables.inTransaction(() -> Optional.ofNullable(membership));
    }

    @Override
    public Membership join(Membership first) {
        return tables.inTransaction(() -> {
            Membership there = membership == null ? first : membership;
            membership = there;
            return there;
        });
    }
}
