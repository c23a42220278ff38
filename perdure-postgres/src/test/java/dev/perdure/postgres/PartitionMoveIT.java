package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.await;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.json;
import static dev.perdure.postgres.StoreFixture.message;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.Operator;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.shard.Balance;
import dev.perdure.postgres.shard.MovingLock;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.RunTables;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.queue.Limiter;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Partitions that move between two databases, without an engine. Each test has partitions of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PartitionMoveIT {
    private static final Schema SCHEMA = new Schema("perdure");
    private static final List<String> STEPS =
            List.of("expect", "copyEnded", "close", "copy", "leave", "open", "remove");

    /** Tables without rows of runs: of workers, of what is declared, of the database itself. */
    private static final Set<String> NOT_OF_RUNS = Set.of(
            "closed_partition",
            "drain",
            "inbox",
            "inbox_lock",
            "inbox_task",
            "lane",
            "lateness",
            "limiter",
            "limiter_rate",
            "migration",
            "payload",
            "payload_chunk",
            "queue",
            "queue_rate",
            "queue_turn",
            "reaction",
            "retention",
            "secret",
            "set_aside",
            "shard",
            "worker");

    private final List<String> said = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();
    private SharedPostgres.Fresh databaseA;
    private SharedPostgres.Fresh databaseB;
    private PostgresStore a;
    private PostgresStore b;
    private StoreFixture onA;
    private PostgresShards shards;

    @BeforeAll
    void open() {
        databaseA = SharedPostgres.database("move_a");
        databaseB = SharedPostgres.database("move_b");
        a = PostgresStore.on(databaseA.dataSource()).notifications(false).open();
        b = PostgresStore.on(databaseB.dataSource()).notifications(false).open();
        ShardMap map = ShardMap.first(List.of("a", "b"));
        a.exchange().orElseThrow().join(new Membership("a", map));
        b.exchange().orElseThrow().join(new Membership("b", map));
        onA = new StoreFixture(a);
        shards = PostgresShards.of(
                Map.of("a", databaseA.dataSource(), "b", databaseB.dataSource()), SCHEMA.name(), Duration.ZERO);
    }

    @AfterAll
    void close() {
        shards.close();
        a.close();
        b.close();
        databaseA.close();
        databaseB.close();
    }

    /** A partition that is on shard a by the first map, and that no other test uses. */
    private int unused() {
        return 2 * next.getAndIncrement();
    }

    private static String id(int partition, String name) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> name + "-" + i)
                .filter(id -> Partitions.of(RunId.of(id)) == partition)
                .findFirst()
                .orElseThrow();
    }

    /** Runs in several states, with what belongs to them. */
    private RunRef fill(int partition) {
        RunRef ended = onA.start(id(partition, "ended"));
        onA.apply(List.of(append(ended, 1)));
        onA.apply(complete(ended));
        RunRef waiting = onA.start(id(partition, "waiting"));
        onA.apply(await(waiting, Channel.message("news")));
        onA.apply(message(waiting, "other"));
        a.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun(id(partition, "ready")), null)));
        RunRef held = onA.start(id(partition, "held"));
        onA.apply(append(held, 1));
        return held;
    }

    private RunRef started(NewRun run) {
        return ((Outcome.Started) onA.apply(new Change.Start(run, onA.worker))).run();
    }

    private List<String> rows(DataSource database, int partition) throws SQLException {
        List<String> all = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (RunTables.Table table : RunTables.of(connection, SCHEMA)) {
                String of = table.name().equals("start_key") ? "(run & 255)" : "partition";
                try (ResultSet rows = statement.executeQuery(
                        "SELECT (to_jsonb(t) - 'owner')::text FROM perdure.%s t WHERE %s = %d ORDER BY 1"
                                .formatted(table.name(), of, partition))) {
                    while (rows.next()) {
                        all.add(table.name() + " " + rows.getString(1));
                    }
                }
            }
        }
        return all;
    }

    private static List<String> without(List<String> rows, String... tables) {
        return rows.stream()
                .filter(row -> Set.of(tables).stream().noneMatch(table -> row.startsWith(table + " ")))
                .toList();
    }

    private PartitionMove move(int partition, ShardServer from, ShardServer to) {
        return new PartitionMove(partition, from, to, said::add);
    }

    @Test
    void every_table_is_moved_or_has_no_rows_of_runs() throws SQLException {
        Set<String> tables = new TreeSet<>(NOT_OF_RUNS);
        try (Connection connection = databaseA.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            RunTables.of(connection, SCHEMA)
                    .forEach(table -> assertThat(tables.add(table.name()))
                            .as(table.name())
                            .isTrue());
            Set<String> existing = new TreeSet<>();
            try (ResultSet rows =
                    statement.executeQuery("SELECT tablename FROM pg_tables WHERE schemaname = 'perdure'")) {
                while (rows.next()) {
                    existing.add(rows.getString(1));
                }
            }
            assertThat(tables).isEqualTo(existing);
        }
    }

    @Test
    void everything_of_a_partition_goes_and_nothing_stays() throws SQLException {
        int partition = unused();
        RunRef held = fill(partition);
        int other = unused();
        fill(other);
        List<String> before = rows(databaseA.dataSource(), partition);
        List<String> untouched = rows(databaseA.dataSource(), other);
        shards.move(List.of(partition), "b", said::add);

        List<String> after = rows(databaseB.dataSource(), partition);
        // The sweep has made the run ready that a worker of the other server held.
        assertThat(without(after, "ready", "held", "run", "event"))
                .isEqualTo(without(before, "ready", "held", "run", "event"));
        assertThat(after.stream().filter(row -> row.startsWith("ready "))).hasSize(2);
        assertThat(b.runs().find(held.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        assertThat(b.journals().read(held, 0, 100).entries()).hasSize(1);
        assertThat(shards.map().owners().get(partition)).isEqualTo("b");
        assertThat(a.exchange().orElseThrow().membership().orElseThrow().map()).isEqualTo(shards.map());

        shards.clean(said::add);
        assertThat(rows(databaseA.dataSource(), partition)).isEmpty();
        assertThat(rows(databaseA.dataSource(), other)).isEqualTo(untouched);
        assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(after);
    }

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
    }

    @Test
    void what_changes_after_the_first_copy_goes_with_the_second() throws SQLException {
        int partition = unused();
        RunRef ending = fill(partition);
        RunRef removed = ended(partition, "removed");
        RunRef again = ended(partition, "again");
        RunRef repaired = failed(partition, "repaired");
        ShardMap map = shards.map();
        List<String> before;
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
            assertThat(rows(databaseB.dataSource(), partition).stream().filter(row -> row.startsWith("run ")))
                    .hasSize(4);
            onA.apply(complete(ending));
            ended(partition, "new");
            assertThat(a.ledger().apply(Lane.client(0), List.of(repair(repaired))))
                    .hasOnlyElementsOfType(Outcome.Applied.class);
            execute(
                    databaseA.dataSource(),
                    "DELETE FROM perdure.journal WHERE key = %d; DELETE FROM perdure.run WHERE key = %1$d"
                            .formatted(removed.key()));
            execute(
                    databaseA.dataSource(),
                    "DELETE FROM perdure.journal WHERE key = %d; UPDATE perdure.run SET changes = changes + 1 WHERE key = %1$d"
                            .formatted(again.key()));
            before = without(rows(databaseA.dataSource(), partition), "ready", "held");
            move.close();
            move.copy(map, map.with(partition, "b"));
            move.leave(map.with(partition, "b"));
            move.open();
        }
        assertThat(without(rows(databaseB.dataSource(), partition), "ready", "held"))
                .isEqualTo(before);
    }

    private RunRef failed(int partition, String name) {
        RunRef run = onA.start(id(partition, name));
        onA.apply(List.of(append(run, 1)));
        onA.apply(new Change.Advance(run, 1, List.of(), new Move.End(RunState.FAILED, json("\"why\""), "")));
        return run;
    }

    private static Change repair(RunRef run) {
        Audit audit = new Audit(
                UUID.randomUUID(),
                Operator.named("anna"),
                AuditEntry.Action.REPAIR,
                AuditEntry.Subject.RUN,
                run.id().value(),
                1,
                "why");
        return new Change.Repair(run.id(), 1, Entry.Status.VALUE, json("[3]"), audit);
    }

    @Test
    void an_id_may_be_used_again_between_two_passes() throws SQLException {
        int partition = unused();
        RunRef removed = ended(partition, "again");
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            PartitionMove move = move(partition, from, to);
            move.expect();
            move.copyEnded();
            execute(databaseA.dataSource(), "DELETE FROM perdure.journal WHERE key = " + removed.key());
            execute(databaseA.dataSource(), "DELETE FROM perdure.event WHERE key = " + removed.key());
            execute(databaseA.dataSource(), "DELETE FROM perdure.run WHERE key = " + removed.key());
            assertThat(ended(partition, "again").id()).isEqualTo(removed.id());
            move.copyEnded();
            assertThat(rows(databaseB.dataSource(), partition)).isEqualTo(rows(databaseA.dataSource(), partition));
            move.reopen();
        }
    }

    @Test
    void a_turn_at_a_limiter_leaves_out_runs_of_a_closed_partition() throws SQLException {
        a.permits().declare(List.of(Limiter.named("partner").concurrency(1)));
        int closed = unused();
        int open = unused();
        RunRef holder = onA.start(id(open, "holder"));
        RunRef waiting = onA.start(id(closed, "waiting"));
        RunRef asking = onA.start(id(closed, "asking"));
        RunRef behind = onA.start(id(open, "behind"));
        assertThat(permits(holder, waiting)).containsExactly(Permits.Answer.HELD, Permits.Answer.WAITS);
        Awaited permit = new Awaited(Set.of(), 1, Set.of("partner"));
        Move wait = new Move.Wait(RunState.SUSPENDED, new Due.Never(), permit, 0);
        onA.apply(new Change.Advance(waiting, 1, List.of(), wait));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(closed, from, to).close();
        }
        onA.apply(append(holder, 1)); // which gives the permit back

        assertThat(a.dispatch().poll(onA.poll(0)).claimed()).isEmpty();
        assertThat(a.runs().find(waiting.id()).orElseThrow().info().state()).isEqualTo(RunState.SUSPENDED);
        assertThat(permits(asking, behind)).containsExactly(Permits.Answer.WAITS, Permits.Answer.HELD);
        onA.apply(append(behind, 1));

        shards.move(List.of(closed), "a", said::add);
        a.dispatch().poll(onA.poll(0));
        assertThat(a.runs().find(waiting.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        execute(
                databaseA.dataSource(),
                "DELETE FROM perdure.permit; DELETE FROM perdure.limiter"); // which no other test has divided
    }

    private List<Permits.Answer> permits(RunRef... runs) {
        return a.permits()
                .take(
                        onA.worker,
                        Stream.of(runs)
                                .map(run -> new Permits.Request("partner", run, 1, 1, 1))
                                .toList());
    }

    private RunRef ended(int partition, String name) {
        RunRef run = onA.start(id(partition, name));
        onA.apply(List.of(append(run, 1)));
        onA.apply(complete(run));
        return run;
    }

    /** With {@code -Dmove.runs=200000} it shows how long the runs of a large partition stand still. */
    @Test
    @Tag("thorough")
    void many_ended_runs_go_in_batches_before_the_partition_is_closed() throws SQLException {
        int partition = unused();
        fill(partition);
        int copies = Integer.getInteger("move.runs", 12_000);
        multiply(ended(partition, "many").key(), copies);
        List<String> before = counts(databaseA.dataSource(), partition);
        said.clear();
        shards.move(List.of(partition), "b", said::add);
        said.forEach(System.out::println);
        assertThat(said)
                .contains("Partition %d is open, and %d ended runs are copied to shard 'b'."
                        .formatted(partition, copies + 2));
        assertThat(counts(databaseB.dataSource(), partition)).isEqualTo(before);
    }

    /** Copies an ended run and its journal under other keys and ids of the same partition. */
    private void multiply(long key, int copies) throws SQLException {
        try (Connection connection = databaseA.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (RunTables.Table table : RunTables.of(connection, SCHEMA)) {
                if (Set.of("run", "journal").contains(table.name())) {
                    statement.execute("""
                            INSERT INTO perdure.%1$s (%2$s)
                            SELECT %5$s
                            FROM perdure.%1$s t
                            CROSS JOIN generate_series(1, %3$d) AS n
                            CROSS JOIN LATERAL jsonb_populate_record(
                                t, jsonb_build_object('key', t.key + 256 * n, 'id', 'copy-' || n)) AS copy
                            WHERE t.key = %4$d
                            """.formatted(
                                    table.name(),
                                    table.columns(),
                                    copies,
                                    key,
                                    "copy." + table.columns().replace(", ", ", copy.")));
                }
            }
            statement.execute("ANALYZE perdure.run, perdure.journal");
        }
    }

    private static List<String> counts(DataSource database, int partition) throws SQLException {
        List<String> counts = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("run", "journal", "publication", "mail", "attribute")) {
                try (ResultSet row = statement.executeQuery(
                        "SELECT count(*) FROM perdure.%s WHERE partition = %d".formatted(table, partition))) {
                    row.next();
                    counts.add(table + " " + row.getLong(1));
                }
            }
        }
        return counts;
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
    void a_closed_partition_takes_no_changes_and_delays_no_others() {
        int partition = unused();
        RunRef held = fill(partition);
        RunRef neighbour = onA.start(id(unused(), "neighbour"));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        assertThatThrownBy(() -> onA.apply(List.of(append(held, 2), append(neighbour, 1))))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING))
                .hasMessage("The partition of '%s' moves to another shard, or has moved; waiting for it."
                        .formatted(held.id()));
        assertThat(a.journals().read(held, 0, 100).entries()).hasSize(1);
        assertThat(a.journals().read(neighbour, 0, 100).entries()).hasSize(1);
        assertThat(a.exchange().orElseThrow().closed()).contains(partition);
        assertThatThrownBy(() -> a.ledger().apply(Lane.client(0), List.of(message(held, "news"))))
                .isInstanceOf(StoreException.class);

        shards.move(List.of(partition), "a", said::add); // back to where it is
        assertThat(a.exchange().orElseThrow().closed()).doesNotContain(partition);
        assertThat(onA.apply(append(held, 2))).isInstanceOf(Outcome.Applied.class);
        assertThat(shards.map().owners().get(partition)).isEqualTo("a");
    }

    @Test
    @Tag("thorough")
    void a_partition_comes_back_and_keys_stay_unique() throws SQLException {
        int partition = unused();
        fill(partition);
        shards.move(List.of(partition), "b", said::add);
        RunRef there = ((Outcome.Started) b.ledger()
                        .apply(Lane.client(0), List.of(new Change.Start(newRun(id(partition, "there")), null)))
                        .getFirst())
                .run();
        assertThat(there.key() >>> 8).isGreaterThanOrEqualTo(1L << 43); // the blocks of shard 1
        shards.move(List.of(partition), "a", said::add);
        shards.clean(said::add);
        assertThat(a.runs().find(there.id())).isPresent();
        assertThat(rows(databaseB.dataSource(), partition)).isEmpty();
        assertThat(onA.start(id(partition, "again"))).isNotNull();
    }

    @Test
    @Tag("thorough")
    void links_between_partitions_are_kept() throws SQLException {
        int going = unused();
        int staying = unused();
        RunRef parent = onA.start(id(going, "parent"));
        RunRef child = started(StoreFixture.child(parent, id(staying, "child"), 1));
        shards.move(List.of(going), "b", said::add);
        onA.apply(complete(child));
        assertThat(a.exchange().orElseThrow().outgoing(List.of(going), 0, 10)).hasSize(1);
        assertThat(a.exchange().orElseThrow().parent(child.id())).isPresent();
        assertThat(parent.key() & 255).isEqualTo(going);
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

    /** The start keys that may name them are set aside. */
    @Test
    void retention_leaves_out_runs_of_a_closed_partition() throws SQLException {
        int partition = unused();
        fill(partition);
        RunId ended = RunId.of(id(partition, "ended"));
        execute(
                databaseA.dataSource(),
                "UPDATE perdure.run SET created_at = now() - interval '9 days', changed_at = now() - interval '9 days' WHERE id = '%s'"
                        .formatted(ended));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        removeOld(Duration.ofDays(1));
        assertThat(a.runs().find(ended)).isPresent();
        shards.move(List.of(partition), "a", said::add);
        removeOld(Duration.ofDays(2));
        assertThat(a.runs().find(ended)).isEmpty();
    }

    /** Of a group that is larger than a batch, the runs are marked before any is removed. */
    @Test
    void retention_leaves_out_large_groups_of_a_closed_partition() throws SQLException {
        int partition = unused();
        RunRef parent = onA.start(id(partition, "parent"));
        RunRef child = started(StoreFixture.child(parent, id(partition, "child"), 1));
        onA.apply(complete(child));
        onA.apply(complete(parent));
        execute(
                databaseA.dataSource(),
                "UPDATE perdure.run SET created_at = now() - interval '9 days', changed_at = now() - interval '9 days' WHERE partition = "
                        + partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        removeOld(Duration.ofDays(3), 1);
        assertThat(a.runs().find(parent.id())).isPresent();
        shards.move(List.of(partition), "a", said::add);
        removeOld(Duration.ofDays(4), 1);
        assertThat(a.runs().find(parent.id())).isEmpty();
        assertThat(a.runs().find(child.id())).isEmpty();
    }

    private void removeOld(Duration period) {
        removeOld(period, 1_000);
    }

    private void removeOld(Duration period, int batch) {
        a.removals().declare(Retention.of(period));
        while (a.removals().remove(batch).again().isZero()) {
            Thread.onSpinWait();
        }
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

    @Test
    @Tag("thorough")
    void a_number_of_a_shard_that_is_gone_is_not_given_again() throws SQLException {
        try (SharedPostgres.Fresh third = SharedPostgres.database("move_c")) {
            PostgresStore.on(third.dataSource()).notifications(false).open().close();
            int before = added("c", third.dataSource());
            execute(third.dataSource(), "DELETE FROM perdure.shard"); // as in another, empty database
            assertThat(added("d", third.dataSource())).isEqualTo(before + 1);
        }
    }

    private int added(String name, DataSource database) throws SQLException {
        try (PostgresShards three = PostgresShards.of(
                Map.of("a", databaseA.dataSource(), "b", databaseB.dataSource(), name, database),
                SCHEMA.name(),
                Duration.ZERO)) {
            three.add(name);
        }
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT number FROM perdure.shard")) {
            row.next();
            return row.getInt("number");
        }
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void what_cannot_be_moved_is_refused_before_anything_is_changed() {
        assertThatThrownBy(() -> shards.move(List.of(256), "b", said::add))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("There is no partition 256. Partitions have numbers from 0 to 255.");
        assertThatThrownBy(() -> shards.move(List.of(0), "c", said::add))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("'c' is none of the shards [a, b]. Add it first.");
        int partition = unused();
        ObjectKey object = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> new ObjectKey("cart", "k" + i))
                .filter(some -> Partitions.of(some) == 255) // of which no test moves anything
                .findFirst()
                .orElseThrow();
        RunRef call = started(newRun(id(partition, "call")).on(new ObjectCall(object, ObjectCall.Hold.EXCLUSIVE)));
        assertThatThrownBy(() -> shards.move(List.of(partition), "b", said::add))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(
                        "Partition %d cannot be moved: the run '%s' calls the object".formatted(partition, call.id()));
        assertThat(a.exchange().orElseThrow().closed()).doesNotContain(partition);
    }

    @Test
    void a_balance_moves_as_few_partitions_as_possible() {
        ShardMap map = ShardMap.first(List.of("a", "b"));
        assertThat(Balance.moves(map, List.of("a", "b"))).isEmpty();
        Map<String, List<Integer>> toThird = Balance.moves(map, List.of("a", "b", "c"));
        assertThat(toThird).containsOnlyKeys("c");
        assertThat(toThird.get("c")).hasSize(85);
        Map<String, List<Integer>> withoutB = Balance.moves(map, List.of("a"));
        assertThat(withoutB.get("a")).hasSize(128).allMatch(partition -> partition % 2 == 1);
    }
}
