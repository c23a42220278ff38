package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.MovingLock;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Moves that stop between two steps, and what is left of moves. */
final class StoppedMoveIT extends TwoShards {
    private static final List<String> STEPS =
            List.of("expect", "copyEnded", "close", "copy", "leave", "open", "remove");

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void a_move_that_stopped_after_any_step_goes_on(int done) throws SQLException {
        int partition = unused();
        RunRef held = fill(partition);
        List<String> before = without(rows(databaseA.dataSource(), partition), "ready", "held", "run", "event");
        ShardMap map = shards.map();
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            for (String step : STEPS.subList(0, done)) {
                switch (step) {
                    case "expect" -> move.expect();
                    case "copyEnded" -> move.copyEnded();
                    case "close" -> move.close();
                    case "copy" -> move.copy(map, map.with(partition, "b"));
                    case "open" -> move.open();
                    case "leave" -> move.leave(map.with(partition, "b"));
                    default -> move.remove();
                }
            }
        }
        shards.move(List.of(partition), "b", said::add);
        shards.clean(said::add);
        assertThat(without(rows(databaseB.dataSource(), partition), "ready", "held", "run", "event"))
                .isEqualTo(before);
        assertThat(b.runs().find(held.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        assertThat(rows(databaseA.dataSource(), partition)).isEmpty();
        assertThat(shards.list()).allSatisfy(shard -> {
            assertThat(shard.leaving()).isEmpty();
            assertThat(shard.arriving()).isEmpty();
            assertThat(shard.left()).isEmpty();
            assertThat(shard.version()).isEqualTo(shards.map().version());
        });
        assertThat(leftBehind(databaseA.dataSource(), partition)).isZero();
    }

    @Test
    void a_move_that_dies_between_two_passes_leaves_nothing_and_loses_nothing() throws SQLException {
        int partition = unused();
        RunRef held = fill(partition);
        List<String> before = rows(databaseA.dataSource(), partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = new PartitionMove(partition, from, to, sentence -> {
                throw new AssertionError("killed after: " + sentence);
            });
            move.expect();
            assertThatThrownBy(move::copyEnded).hasMessageContaining("1 ended runs and 0 objects are copied");
        }
        assertThat(leftBehind(databaseA.dataSource(), partition)).isPositive();
        shards.move(List.of(), "a", said::add);
        assertThat(leftBehind(databaseA.dataSource(), partition)).isZero();
        assertThat(rows(databaseA.dataSource(), partition)).isEqualTo(before);
        assertThat(rows(databaseB.dataSource(), partition)).isEmpty();
        onA.apply(complete(held));
        List<String> later = without(rows(databaseA.dataSource(), partition), "ready", "event");
        shards.move(List.of(partition), "b", said::add);
        assertThat(without(rows(databaseB.dataSource(), partition), "ready", "event"))
                .isEqualTo(later);
        assertThat(leftBehind(databaseA.dataSource(), partition)).isZero();
    }

    @Test
    void a_move_that_is_given_up_leaves_nothing_at_the_target() throws SQLException {
        int partition = unused();
        fill(partition);
        List<String> before = rows(databaseA.dataSource(), partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
        }
        assertThat(rows(databaseB.dataSource(), partition)).isNotEmpty();
        shards.move(List.of(), "a", said::add);
        assertThat(rows(databaseB.dataSource(), partition)).isEmpty();
        assertThat(rows(databaseA.dataSource(), partition)).isEqualTo(before);
    }

    @Test
    void a_shard_to_which_a_move_was_given_up_takes_neither_changes_nor_late_batches() throws SQLException {
        int partition = unused();
        fill(partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.reopen();
            assertThatThrownBy(move::copyEnded)
                    .isInstanceOf(StoreException.class)
                    .hasMessage("The move of partition %d to shard 'b' was given up. Run the command again."
                            .formatted(partition));
        }
        Change late =
                new Change.Start(newRun(id(partition, "late")), null); // by a map of a time when b had the partition
        assertThatThrownBy(() -> b.ledger().apply(Lane.client(0), List.of(late)))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING));
        assertThat(rows(databaseB.dataSource(), partition)).isEmpty();
    }

    @Test
    void rows_of_a_partition_that_has_come_back_are_not_removed() throws SQLException {
        int partition = unused();
        fill(partition);
        shards.move(List.of(partition), "b", said::add);
        shards.move(List.of(partition), "a", said::add);
        List<String> before = rows(databaseA.dataSource(), partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).remove(); // by a command that had seen that it has left
            assertThat(rows(databaseA.dataSource(), partition)).isNotEmpty().isEqualTo(before);
            MovingLock other = MovingLock.on(from);
            try {
                assertThatThrownBy(() -> shards.clean(said::add))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessage("Another command moves partitions of these shards. Wait for its end, or stop it.");
            } finally {
                other.close();
            }
        }
    }

    @Test
    void rows_are_removed_although_other_servers_are_out_of_reach() throws SQLException {
        int partition = unused();
        fill(partition);
        shards.move(List.of(partition), "b", said::add);
        try (PostgresShards onlyA =
                PostgresShards.of(Map.of("a", databaseA.dataSource()), SCHEMA.name(), Duration.ZERO)) {
            assertThatThrownBy(() -> onlyA.move(List.of(partition), "a", said::add))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("has shards that were not given: [b].");
            onlyA.clean(said::add);
        }
        assertThat(rows(databaseA.dataSource(), partition)).isEmpty();
        assertThat(shards.list()).allSatisfy(shard -> assertThat(shard.left()).doesNotContain(partition));
    }

    @Test
    void the_indexes_of_moves_stay_until_the_rows_are_removed() throws SQLException {
        int partition = unused();
        shards.move(List.of(partition), "b", said::add);
        try (ShardServer first = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                MovingLock other = MovingLock.on(first)) {
            assertThat(other).isNotNull();
            assertThatThrownBy(() -> shards.move(List.of(partition), "a", said::add))
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThat(indexes(databaseA.dataSource()))
                .as("a refused command leaves those of others")
                .contains("moving_run", "moving_mail")
                .doesNotContain("moving_journal", "moving_event");
        shards.clean(said::add);
        assertThat(indexes(databaseA.dataSource())).isEmpty();
        assertThat(indexes(databaseB.dataSource())).isEmpty();
    }

    private static List<String> indexes(DataSource database) throws SQLException {
        List<String> names = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT indexname FROM pg_indexes WHERE schemaname = 'perdure' AND indexname LIKE 'moving%'")) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    @Test
    void a_command_ends_what_others_have_left_behind() throws SQLException {
        int closed = unused();
        RunRef forgotten = fill(closed);
        int copied = unused();
        RunRef moved = fill(copied);
        ShardMap map = shards.map();
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(closed, from, to).close();
            PartitionMove decided = move(copied, from, to);
            decided.expect();
            decided.close();
            decided.copy(map, map.with(copied, "b"));
        }
        execute(
                databaseA.dataSource(),
                "UPDATE perdure.set_aside SET content = content || '{\"worker\": 999999}' WHERE of_table = 'held'");
        shards.move(List.of(), "a", said::add);
        assertThat(shards.list()).allSatisfy(shard -> {
            assertThat(shard.leaving()).isEmpty();
            assertThat(shard.arriving()).isEmpty();
            assertThat(shard.version()).isEqualTo(map.version() + 1);
        });
        assertThat(a.runs().find(forgotten.id()).orElseThrow().info().state())
                .as("its worker was forgotten meanwhile")
                .isEqualTo(RunState.READY);
        assertThat(b.runs().find(moved.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
    }

    @Test
    void a_copy_of_a_move_that_was_given_up_does_not_count() {
        int partition = unused();
        ShardMap map = shards.map();
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.close();
            move.reopen();
            assertThatThrownBy(() -> move.copy(map, map.with(partition, "b")))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("has changed meanwhile, or the move was given up.");
        }
        assertThat(shards.map()).isEqualTo(map);
    }
}
