package dev.perdure.torture.setup;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.postgres.PostgresShards;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The shards as an operator sees them, with connections of its own. */
public final class ShardOperator implements AutoCloseable {
    private static final int CONNECTIONS = 12;

    private final CloseStack closing = new CloseStack();
    private final PostgresShards shards;

    /** The shards at these addresses. */
    public ShardOperator(List<Address> addresses) {
        try {
            Map<String, HikariDataSource> pools = new TreeMap<>();
            for (Address address : addresses) {
                pools.put(ShardSite.NAMES.get(pools.size()), closing.add(address.pool(CONNECTIONS)));
            }
            this.shards = closing.add(PostgresShards.of(pools, "perdure"));
        } catch (RuntimeException | Error failed) {
            closing.close();
            throw failed;
        }
    }

    /** What moves partitions. */
    public PostgresShards shards() {
        return shards;
    }

    @Override
    public void close() {
        closing.close();
    }
}
