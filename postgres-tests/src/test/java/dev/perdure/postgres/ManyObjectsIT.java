package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.shard.Partitions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/**
 * Very many virtual objects that have a state and that are not called. The long form: {@code -Dobjects.states=1000000}.
 */
final class ManyObjectsIT {
    private static final int STATES = Integer.getInteger("objects.states", 5_000);
    private static final int AT_ONCE = 10_000;

    private static final String FILL = """
            WITH given AS (
                SELECT * FROM unnest(?::text[], ?::smallint[], ?::bytea[]) AS g (key, partition, payload)
            ), objects AS (
                INSERT INTO ${schema}.object (type, key, partition) SELECT 'counter', key, partition FROM given
            )
            INSERT INTO ${schema}.object_state (object_type, object_key, name, partition, payload)
            SELECT 'counter', key, 'count', partition, payload FROM given
            """;

    /** Counts. */
    @VirtualObject("counter")
    static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        @Handler
        public int count(ObjectContext ctx) {
            int count = ctx.get(COUNT).orElseThrow() + 1;
            ctx.set(COUNT, count);
            return count;
        }
    }

    @Test
    void any_of_very_many_objects_answers_from_its_own_state() throws Exception {
        Schema schema = new Schema(TestServer.newSchema());
        try (HikariDataSource pool = TestServer.pool(5);
                PostgresStore store =
                        PostgresStore.on(pool).schema(schema.name()).open()) {
            fill(pool, schema);
            try (Perdure perdure = Perdure.on(store).register(new Counter()).start()) {
                for (int i = 1; i < STATES; i += STATES / 50) {
                    assertThat(perdure.object(Counter.class, "idle-" + i).call(Counter::count))
                            .isEqualTo(i + 1);
                }
            }
        }
    }

    /** Objects that have counted as far as their number says. */
    private static void fill(HikariDataSource pool, Schema schema) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(schema.sql(FILL))) {
            for (int from = 0; from < STATES; from += AT_ONCE) {
                int size = Math.min(AT_ONCE, STATES - from);
                String[] keys = new String[size];
                short[] partitions = new short[size];
                byte[][] counts = new byte[size][];
                for (int i = 0; i < size; i++) {
                    keys[i] = "idle-" + (from + i);
                    partitions[i] = (short) Partitions.of(new ObjectKey("counter", keys[i]));
                    counts[i] = StoreFixture.json(Integer.toString(from + i)).bytes();
                }
                new Parameters(statement).texts(keys).shorts(partitions).bytes(counts);
                statement.execute();
            }
        }
    }
}
