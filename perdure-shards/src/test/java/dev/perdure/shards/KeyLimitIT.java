package dev.perdure.shards;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Partitions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The same on two databases of one server. */
final class KeyLimitIT extends KeyLimitCases {
    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();

    @Override
    Store open(String name) {
        SharedPostgres.Fresh database = SharedPostgres.database("key_limit_" + name);
        databases.add(database);
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    void drop() {
        databases.forEach(SharedPostgres.Fresh::close);
    }

    @Test
    void the_server_finds_the_same_partition_of_a_key_as_processes_do() throws SQLException {
        String[] keys = Stream.concat(
                        Stream.of("", "acme", "a/key/with slashes", "ключ 🔑", "€uro", "\uFFFD", "x".repeat(200)),
                        IntStream.range(0, 300).mapToObj(i -> "customer-" + i))
                .toArray(String[]::new);
        try (Connection connection = databases.getFirst().dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "SELECT k.key, perdure.key_partition(k.key), perdure.counts_key(k.key) FROM unnest(?::text[]) AS k (key)")) {
            statement.setArray(1, connection.createArrayOf("text", keys));
            int rows = 0;
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows++;
                    String key = row.getString(1);
                    assertThat(row.getInt(2)).as(key).isEqualTo(Partitions.ofQueueKey(key));
                    assertThat(row.getBoolean(3)).as(key).isEqualTo(Partitions.ofQueueKey(key) % 2 == 0);
                }
            }
            assertThat(rows).isEqualTo(keys.length);
        }
    }
}
