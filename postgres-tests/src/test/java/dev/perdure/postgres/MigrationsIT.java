package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.version.WorkerInfo.Heap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Migrations, by the library and by hand; the three roles; the views. */
final class MigrationsIT {
    @Test
    void eight_workers_that_start_at_once_migrate_once() throws Exception {
        String schema = TestServer.newSchema();
        CyclicBarrier barrier = new CyclicBarrier(8);
        List<Future<?>> opened = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 8; i++) {
                opened.add(threads.submit(() -> {
                    barrier.await();
                    PostgresStore.on(TestServer.plain())
                            .schema(schema)
                            .notifications(false)
                            .open()
                            .close();
                    return null;
                }));
            }
            for (Future<?> store : opened) {
                store.get();
            }
        }
        assertThat(TestServer.query("SELECT name FROM %s.migration ORDER BY version".formatted(schema)))
                .isEqualTo(String.join("\n", files()));
    }

    private static List<String> files() throws IOException {
        Path migrations = Path.of("../perdure-postgres/src/main/resources/dev/perdure/postgres/migrations");
        try (Stream<Path> folder = Files.list(migrations)) {
            return folder.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("V"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void the_script_for_a_dba_does_the_same() {
        String schema = TestServer.newSchema();
        TestServer.execute(PostgresStore.migrations(schema));

        PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .migrate(false)
                .open()
                .close();
    }

    @Test
    void the_owner_of_a_schema_that_a_dba_has_made_migrates_it() {
        String schema = TestServer.newSchema();
        String owner = "owner_" + schema;
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(owner));
        TestServer.execute("CREATE SCHEMA %s AUTHORIZATION %s".formatted(schema, owner));

        PostgresStore.on(TestServer.plain(owner, "secret"))
                .schema(schema)
                .notifications(false)
                .open()
                .close();
    }

    @Test
    void workers_work_and_viewers_look_with_the_rights_granted() throws Exception {
        String schema = TestServer.newSchema();
        String worker = "worker_" + schema;
        String viewer = "viewer_" + schema;
        PostgresStore.on(TestServer.plain()).schema(schema).open().close();
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(worker));
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(viewer));
        TestServer.execute(PostgresStore.grants(schema, worker, viewer));

        try (PostgresStore store = PostgresStore.on(TestServer.plain(worker, "secret"))
                .schema(schema)
                .open()) {
            live(store);
        }
        try (Connection connection = TestServer.plain(worker, "secret").getConnection();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("DELETE FROM %s.secret".formatted(schema)))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> statement.execute("DELETE FROM %s.retention".formatted(schema)))
                    .isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> statement.execute("CREATE TABLE %s.x ()".formatted(schema)))
                    .isInstanceOf(SQLException.class);
        }
        try (Connection connection = TestServer.plain(viewer, "secret").getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery(
                    "SELECT state || ' ' || input || ' ' || outcome FROM %s.runs WHERE id = 'a'".formatted(schema))) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("COMPLETED {\"id\":1} \"ok\"");
            }
            statement.execute("SELECT * FROM %s.journals".formatted(schema));
            statement.execute("SELECT * FROM %s.events".formatted(schema));
            try (ResultSet rows = statement.executeQuery(
                    "SELECT id || ' ' || channel || ' ' || name || ' ' || payload FROM %s.mails".formatted(schema))) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("talks MESSAGE news \"news\"");
            }
            try (ResultSet rows = statement.executeQuery(
                    "SELECT id || ' ' || name || ' ' || payload FROM %s.publications".formatted(schema))) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("talks progress 1");
            }
            assertThatThrownBy(() -> statement.execute("SELECT * FROM %s.run".formatted(schema)))
                    .isInstanceOf(SQLException.class);
        }
        try (PostgresStore store = PostgresStore.on(TestServer.plain(worker, "secret"))
                .schema(schema)
                .time(() -> Instant.now().plus(Duration.ofDays(60)))
                .open()) {
            assertThat(store.removals().remove(100).runs()).isPositive();
        }
    }

    /** Everything a worker does. */
    private static void live(PostgresStore store) {
        StoreFixture fixture = new StoreFixture(store);
        RunRef run = fixture.start("a");
        fixture.apply(StoreFixture.append(run, 1));
        fixture.apply(StoreFixture.complete(run));
        talk(store, fixture);
        runAgain(store, fixture);
        store.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("b"), null)));
        assertThat(store.dispatch().poll(fixture.poll(5)).claimed()).hasSize(1);
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(
                                StoreFixture.newRun("b").id(), Change.CommandKind.PAUSE, "hold on")));
        assertThat(store.dispatch().poll(fixture.poll(5)).signalled()).hasSize(1);
        assertThat(store.leases().renew(fixture.worker, Heap.now())).isNotNull();
        store.leases().leave(fixture.worker);
        assertThat(store.leases().sweep(10)).hasSize(1);
        assertThat(store.leases().sweep(10)).isEmpty();
        assertThat(store.runs().entered(run)).hasSize(2);
    }

    private static void runAgain(PostgresStore store, StoreFixture fixture) {
        Outcome.Started dag = (Outcome.Started) fixture.apply(StoreFixture.line("dag", fixture.worker));
        RunRef task = dag.handed().getFirst().run();
        Change kill = new Change.Command(dag.run().id(), Change.CommandKind.KILL, "enough");
        fixture.apply(StoreFixture.message(task, "news"));
        fixture.apply(kill);
        fixture.apply(StoreFixture.complete(task));
        List<RunId> tasks = List.of(task.id(), RunId.of("dag/b"));
        assertThat(fixture.apply(new Change.Rerun(dag.run().id(), tasks, 4711))).isInstanceOf(Outcome.Applied.class);
        Claimed again = store.dispatch().poll(fixture.poll(5)).claimed().getFirst();
        Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "");
        fixture.apply(new Change.Advance(again.run(), again.epoch(), List.of(), end));
        fixture.apply(kill);
    }

    private static void talk(PostgresStore store, StoreFixture fixture) {
        RunRef run = fixture.start("talks");
        List<Effect> effects = List.of(
                new Effect.Publish("progress", 1, StoreFixture.json("1")),
                new Effect.Awakeable("hash", 2),
                new Effect.Subscribe("paid", "", 3));
        fixture.apply(new Change.Advance(run, 1, List.of(), effects, StoreFixture.STAY));
        fixture.apply(StoreFixture.await(run, Channel.message("news")));
        fixture.apply(StoreFixture.message(run, "news"));
        assertThat(store.dispatch().poll(fixture.poll(5)).claimed()).hasSize(1);
        assertThat(store.mailboxes().awakeable("hash")).isPresent();
        fixture.apply(new Change.Advance(run, 2, List.of(), new Move.Restart(StoreFixture.json("2"), 2)));
        assertThat(store.mailboxes().subscribers("paid", "")).isEmpty();
        store.ledger().apply(Lane.client(0), List.of(new Change.Command(run.id(), Change.CommandKind.KILL, "enough")));
    }

    @Test
    void views_show_payloads_as_json_whatever_they_are() {
        String schema = TestServer.newSchema();
        try (PostgresStore store =
                PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            StoreFixture fixture = new StoreFixture(store);
            RunRef run = fixture.start("a");
            fixture.apply(StoreFixture.append(run, 1));
        }
        String json = "SELECT %s.payload_json(%s)";
        assertThat(TestServer.query("SELECT kind || ' ' || name || ' ' || status || ' ' || payload FROM %s.journals"
                        .formatted(schema)))
                .isEqualTo("STEP charge VALUE [1,2]");
        assertThat(TestServer.query(json.formatted(schema, "'\\xff00'::bytea"))).isEqualTo("\"/wA=\"");
        assertThat(TestServer.query(json.formatted(schema, "'{]'::bytea"))).isEqualTo("\"e10=\"");
        assertThat(TestServer.query("SELECT %s.payload_json('') IS NULL".formatted(schema)))
                .isEqualTo("t");
        assertThat(TestServer.query("SELECT state FROM %s.events".formatted(schema)))
                .isEqualTo("RUNNING");
    }
}
