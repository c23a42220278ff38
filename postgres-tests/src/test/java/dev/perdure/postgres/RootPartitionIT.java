package dev.perdure.postgres;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.dag.Dag;
import dev.perdure.error.RunConflictException;
import dev.perdure.spi.shard.Partitions;
import org.junit.jupiter.api.Test;

/** A run, its children and its tasks share a partition, and an id is unique whatever the partition. */
final class RootPartitionIT {
    private static final Definition<Integer, Integer> LEAF =
            Definition.of("leaf", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));

    private static final Dag<Integer, Integer> SUMS =
            Dag.of("sums", Integer.class, dag -> dag.task("one", task -> task.input() + 1));

    private static final Definition<Integer, Integer> ROOT = Definition.of(
            "root",
            Integer.class,
            Integer.class,
            (ctx, number) -> ctx.call(Invocation.of(LEAF, number))
                    + ctx.startChild(Invocation.of(LEAF, number), childId("parcel-7"))
                            .await()
                    + ctx.call(Invocation.of(SUMS, number)));

    @Test
    void runs_that_the_engine_names_share_the_partition_of_their_root() {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(9);
                Perdure perdure = Perdure.on(
                                PostgresStore.on(pool).schema(schema).open())
                        .register(ROOT)
                        .register(LEAF)
                        .register(SUMS)
                        .start()) {
            assertThat(perdure.start(Invocation.of(ROOT, 5), id("order-42")).result())
                    .isEqualTo(26);

            assertThat(TestServer.query("SELECT count(*) FROM %s.run WHERE partition = %d"
                            .formatted(schema, Partitions.of(RunId.of("order-42")))))
                    .isEqualTo("4");
            assertThat(TestServer.query("SELECT count(*) FROM %s.run WHERE key & 255 <> partition".formatted(schema)))
                    .isEqualTo("0");

            assertThat(Partitions.of(RunId.of("parcel-7"))).isNotEqualTo(Partitions.of(RunId.of("order-42")));
            assertThatThrownBy(() -> perdure.start(Invocation.of(LEAF, 6), id("parcel-7")))
                    .isInstanceOf(RunConflictException.class);
        }
    }
}
