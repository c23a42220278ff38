package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The same on PostgreSQL. That its polls take no more than they are told to, the conformance suite shows in every build. */
@Tag("thorough")
final class LimitPerWorkerIT extends LimitPerWorkerTest {
    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();

    @Override
    Shard[] shards(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    databases.add(SharedPostgres.database("per_worker_" + i));
                    return shard(
                            "s" + i,
                            PostgresStore.on(databases.getLast().dataSource()).open());
                })
                .toArray(Shard[]::new);
    }

    @AfterEach
    void drop() {
        databases.forEach(SharedPostgres.Fresh::close);
    }
}
