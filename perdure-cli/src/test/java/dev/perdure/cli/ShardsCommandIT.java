package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The command about the servers of a sharded store. */
final class ShardsCommandIT extends CommandsOnPostgres {
    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();
    private final List<PostgresStore> stores = new ArrayList<>();

    @BeforeEach
    void openShards() {
        for (String name : List.of("a", "b", "c")) {
            SharedPostgres.Fresh database = SharedPostgres.database("shards_" + name);
            databases.add(database);
            stores.add(
                    PostgresStore.on(database.dataSource()).notifications(false).open());
        }
        ShardMap map = ShardMap.first(List.of("a", "b"));
        stores.get(0).exchange().orElseThrow().join(new Membership("a", map));
        stores.get(1).exchange().orElseThrow().join(new Membership("b", map));
    }

    @AfterEach
    void closeShards() {
        stores.forEach(PostgresStore::close);
        databases.forEach(SharedPostgres.Fresh::close);
    }

    private int shards(int count, String... args) {
        List<String> all = new ArrayList<>(List.of("shards"));
        all.addAll(List.of(args));
        for (int i = 0; i < count; i++) {
            all.addAll(
                    List.of("--shard", "abc".charAt(i) + "=" + databases.get(i).jdbcUrl()));
        }
        all.addAll(List.of(
                "--user",
                databases.get(0).user(),
                "--password",
                databases.get(0).password()));
        return perdure(all.toArray(String[]::new));
    }

    private JsonNode printed(int from) {
        return new JsonMapper().readTree(out().substring(from));
    }

    @Test
    void shards_are_listed_and_one_is_added() {
        assertThat(shards(2, "list", "--json")).as(err()).isZero();
        assertThat(printed(0).at("/shards/0/name").asString()).isEqualTo("a");
        assertThat(printed(0).at("/shards/1/partitions").asInt()).isEqualTo(128);
        assertThat(shards(3, "add", "c")).as(err()).isZero();
        assertThat(out()).contains("Shard c is added.");
        assertThat(shards(3, "add", "c")).isEqualTo(2);
        assertThat(err()).contains("The database of shard 'c' is a shard already.");
        assertThat(shards(1, "list")).isEqualTo(2);
        assertThat(err()).contains("The map of version 1 has shards that were not given: [b].");
        assertThat(shards(0, "list")).isEqualTo(2);
        assertThat(err()).contains("No shard is given.");
        assertThat(shards(2, "move", "x", "--to", "b")).isEqualTo(2);
        assertThat(shards(2, "move", "1", "--to", "z")).isEqualTo(2);
        assertThat(err()).contains("'z' is none of the shards [a, b]. Add it first.");
    }

    /** Waits until no process can work by the old map. */
    @Test
    @Tag("thorough")
    void partitions_are_moved_and_a_shard_is_emptied() {
        RunId run = RunId.of("order-1");
        int partition = Partitions.of(run);
        int from = partition % 2;
        stores.get(from)
                .ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Start(
                                new NewRun(run, "order", Payload.EMPTY, 1, "default", 0, null, null), null)));
        assertThat(shards(3, "add", "c")).as(err()).isZero();
        assertThat(shards(3, "move", String.valueOf(partition), "--to", "c"))
                .as(err())
                .isZero();
        assertThat(err())
                .contains("Partition %d is copied to shard 'c':".formatted(partition))
                .contains("The rows of partition %d are removed".formatted(partition));
        assertThat(stores.get(2).runs().find(run)).isPresent();
        assertThat(stores.get(from).runs().find(run)).isEmpty();
        int before = out().length();
        assertThat(shards(3, "balance", "--without", "c", "--json")).as(err()).isZero();
        JsonNode listed = printed(before);
        assertThat(listed.at("/shards/0/partitions").asInt()).isEqualTo(128);
        assertThat(listed.at("/shards/2/partitions").asInt()).isZero();
        assertThat(stores.get(from).runs().find(run)).isPresent();
    }
}
