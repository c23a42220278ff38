package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.audit.AuditFilter;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

/** A row that no worker can read, for each reader of rows: it is left out and named in the log, and stops nothing else. */
final class UnreadableRowsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Topic<String> NEWS = Topic.of("news", String.class);
    private static final Limiter MAILS = Limiter.named("mails").concurrency(1);

    private final String schema = TestServer.schemaOf(UnreadableRowsIT.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Definition<String, String> echo =
            Definition.of("echo", String.class, String.class, (ctx, in) -> ctx.step("say", () -> in));
    private final Definition<String, String> reader = Definition.of(
            "reader", String.class, String.class, (ctx, in) -> ctx.receive(NEWS).await());
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;
    private int started;

    @BeforeEach
    void open() throws InterruptedException {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        store.awaitListening();
        perdure = Perdure.on(store)
                .register(echo, reader)
                .queues(
                        Queue.named("imports").concurrency(2),
                        Queue.named("bad").concurrency(2))
                .queues(StartOptions.DEFAULT_QUEUE)
                .limiters(MAILS, Limiter.named("bad").concurrency(1))
                .start();
        lines.start();
        logger().addAppender(lines);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("dev.perdure");
    }

    @AfterEach
    void close() {
        logger().detachAppender(lines);
        perdure.close();
        store.close();
        pool.close();
    }

    private void execute(String sql) {
        TestServer.execute(sql.replace("${schema}", schema));
    }

    /** Everything that is not about the bad row. */
    private void awaitOthers() {
        started++;
        String own = "own-" + started;
        perdure.start(
                Invocation.of(echo, "x"), StartOptions.id(own).queue("imports").key("k"));
        execute("SELECT ${schema}.start_run('echo', 'sql-%d', '\"x\"')".formatted(started));
        execute("SELECT ${schema}.start_run('reader', 'reader-%d', '\"x\"')".formatted(started));
        execute("SELECT ${schema}.send_message('reader-%d', 'news', '\"x\"')".formatted(started));
        for (String id : List.of(own, "sql-" + started, "reader-" + started)) {
            await(id)
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    TestServer.query("SELECT state FROM %s.runs WHERE id = '%s'".formatted(schema, id)))
                            .isEqualTo("COMPLETED"));
        }
        assertThat(perdure.runs(RunFilter.all()).list())
                .extracting(run -> run.id().value())
                .contains(own);
        assertThat(perdure.runs(RunFilter.all()).count().get(RunState.COMPLETED).runs())
                .isPositive();
        assertThat(perdure.queues().list())
                .extracting(dev.perdure.queue.QueueInfo::name)
                .contains("imports");
        assertThat(perdure.limiters().list())
                .extracting(dev.perdure.queue.LimiterInfo::name)
                .contains("mails");
        perdure.reactions().list();
        perdure.schedules().list("", 100);
        perdure.audit().list(AuditFilter.all());
        assertThat(perdure.versions().workers()).isNotEmpty();
        perdure.versions().list();
        perdure.retention().info();
        perdure.status();
        store.leases().sweep(10);
    }

    private void awaitLogged(String words) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(List.copyOf(lines.list))
                        .filteredOn(line -> line.getLevel().isGreaterOrEqual(Level.WARN))
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .anyMatch(line -> line.contains(words)));
    }

    /**
     * A bad row.
     *
     * @param what what it is, for the report
     * @param logged what the log says of it
     * @param sql how it comes there
     */
    private record Planting(String what, String logged, String... sql) {
        @Override
        public String toString() {
            return what;
        }
    }

    static Stream<Planting> plantings() {
        return Stream.of(
                new Planting(
                        "a version with a line break, of a run that is ready",
                        "a\\nb",
                        "SELECT ${schema}.start_run('echo', 'bad', version => 'v9')",
                        "wait READY",
                        "UPDATE ${schema}.run SET version = E'a\nb' WHERE id = 'bad'",
                        "UPDATE ${schema}.ready SET version = E'a\nb' WHERE key = (SELECT key FROM ${schema}.run WHERE id = 'bad')"),
                new Planting(
                        "a placement that is none",
                        "no requirement",
                        "SELECT ${schema}.start_run('echo', 'bad', requires => 'a=b')",
                        "wait READY",
                        "UPDATE ${schema}.run SET placement = 'no requirement' WHERE id = 'bad'",
                        "UPDATE ${schema}.ready SET version = E'\nno requirement' WHERE key = (SELECT key FROM ${schema}.run WHERE id = 'bad')"),
                new Planting(
                        "a placement on a worker that is gone, and more that cannot be read",
                        "no requirement",
                        "SELECT ${schema}.start_run('echo', 'bad', requires => 'a=b')",
                        "wait READY",
                        "UPDATE ${schema}.run SET placement = 'worker=gone,no requirement' WHERE id = 'bad'",
                        "UPDATE ${schema}.ready SET version = E'\nworker=gone,no requirement' WHERE key = (SELECT key FROM ${schema}.run WHERE id = 'bad')"),
                new Planting(
                        "the id of a run that is claimed",
                        "U+000A",
                        "SELECT ${schema}.start_run('echo', 'bad', version => 'v9')",
                        "wait READY",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET id = E'b\nd', version = NULL WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.ready r SET version = '' FROM bad WHERE r.key = bad.key"""),
                new Planting(
                        "the id of a run that is claimed from a queue with limits",
                        "U+000A",
                        "SELECT ${schema}.start_run('echo', 'bad', queue => 'imports', version => 'v9')",
                        "wait READY",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET id = E'b\nd', version = NULL WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.ready r SET version = '' FROM bad WHERE r.key = bad.key"""),
                new Planting(
                        "the id of a run that did not begin in time",
                        "U+000A",
                        "SELECT ${schema}.start_run('echo', 'bad', version => 'v9', start_within => interval '1 hour')",
                        "wait READY",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET id = E'b\nd' WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.start_limit l SET due_at = now() FROM bad WHERE l.key = bad.key"""),
                new Planting(
                        "the id of a run that its worker has lost",
                        "U+000A",
                        "SELECT ${schema}.start_run('reader', 'bad', version => 'v9')",
                        "wait READY",
                        """
                        WITH gone AS (
                            INSERT INTO ${schema}.worker (expires_at, lease, id, dead, definitions)
                            VALUES (now() - interval '1 day', '10 seconds', gen_random_uuid(), true, '{}') RETURNING number
                        ), bad AS (
                            UPDATE ${schema}.run SET id = E'b\nd', state = 2, owner = (SELECT number FROM gone) WHERE id = 'bad'
                            RETURNING key, partition
                        ), unqueued AS (
                            DELETE FROM ${schema}.ready r USING bad WHERE r.key = bad.key
                        )
                        INSERT INTO ${schema}.held (key, worker, partition) SELECT b.key, g.number, b.partition FROM bad b, gone g"""),
                new Planting(
                        "the id of a request",
                        "U+000A",
                        "INSERT INTO ${schema}.inbox (seed, wish, id, definition, queue, input) VALUES (1, 0, E'b\nd', 'echo', 'default', '1')"),
                new Planting(
                        "attributes that are no object",
                        "attributes",
                        "INSERT INTO ${schema}.inbox (seed, wish, id, definition, queue, input, attributes) VALUES (1, 0, 'bad', 'echo', 'default', '1', '[1]')"),
                new Planting("the task of a request", "U+000A", """
                        WITH dag AS (
                            INSERT INTO ${schema}.inbox (seed, wish, id, definition, queue, input, tasks)
                            VALUES (1, 0, 'bad', 'echo', 'default', '1', 1) RETURNING number
                        )
                        INSERT INTO ${schema}.inbox_task (number, seed, place, priority, id, definition, queue, after)
                        SELECT number, 1, 0, 0, E'b\nd', 'echo', 'default', '{}' FROM dag"""),
                new Planting(
                        "a mail on a channel that is not known, which the run does not see",
                        "",
                        "SELECT ${schema}.start_run('reader', 'bad', version => 'v9')",
                        "wait READY",
                        """
                        INSERT INTO ${schema}.mail (key, number, token, channel, position, status, partition, name, at, payload, restarts, text)
                        SELECT key, 1, gen_random_uuid(), 77, 0, 0, partition, 'news', now(), '1', 0, '' FROM ${schema}.run WHERE id = 'bad'""",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET version = NULL, mails = 1 WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.ready r SET version = '' FROM bad WHERE r.key = bad.key"""),
                new Planting(
                        "a limit of a queue",
                        "bad",
                        "SELECT ${schema}.start_run('echo', 'bad', queue => 'bad', version => 'v9')",
                        "wait READY",
                        "UPDATE ${schema}.queue SET declared = '{\"concurrency\": \"many\"}', revision = revision + 1 WHERE name = 'bad'",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET version = NULL WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.ready r SET version = '' FROM bad WHERE r.key = bad.key"""),
                new Planting(
                        "a rate of a queue",
                        "bad",
                        "SELECT ${schema}.start_run('echo', 'bad', queue => 'bad', queue_key => 'k', version => 'v9')",
                        "wait READY",
                        "UPDATE ${schema}.queue SET changed = '{\"rate\": \"often\"}', revision = revision + 1 WHERE name = 'bad'",
                        """
                        WITH bad AS (UPDATE ${schema}.run SET version = NULL WHERE id = 'bad' RETURNING key)
                        UPDATE ${schema}.ready r SET version = '' FROM bad WHERE r.key = bad.key"""),
                new Planting(
                        "the settings of a queue that are no object",
                        "bad",
                        "UPDATE ${schema}.queue SET declared = '[]', revision = revision + 1 WHERE name = 'bad'"),
                new Planting(
                        "a limit of a limiter",
                        "bad",
                        "UPDATE ${schema}.limiter SET declared = '{\"concurrency\": \"many\"}' WHERE name = 'bad'",
                        "INSERT INTO ${schema}.permit (number, key, epoch, asked_at, position, attempt, restarts, partition, state, limiter) VALUES (1, 4711, 1, now(), 1, 1, 0, 0, 0, 'bad')"),
                new Planting(
                        "the settings of a limiter that are no object",
                        "bad",
                        "UPDATE ${schema}.limiter SET declared = '[]' WHERE name = 'bad'"),
                new Planting(
                        "a state of a reaction",
                        "bad",
                        "INSERT INTO ${schema}.reaction (name, states, starts, queue) VALUES ('bad', '{77}', 'echo', 'default')"),
                new Planting("a worker", "", """
                        INSERT INTO ${schema}.worker (expires_at, lease, id, definitions, labels, queues, version)
                        VALUES (now() + interval '1 day', '10 seconds', gen_random_uuid(), '{}', '[]', '{NULL}', E'a\nb')"""),
                new Planting(
                        "the retention",
                        "retention",
                        "UPDATE ${schema}.retention SET declared = '{\"all\": \"often\"}'"),
                new Planting(
                        "an entry of the audit",
                        "BAKE",
                        "INSERT INTO ${schema}.audit (at, id, operator, origin, action, subject, name, position, partition, detail) VALUES (now(), gen_random_uuid(), 'me', 'test', 'BAKE', 'RUN', 'bad', 0, 0, '')"),
                new Planting(
                        "the state of a run",
                        "77",
                        "SELECT ${schema}.start_run('reader', 'bad')",
                        "wait SUSPENDED",
                        "UPDATE ${schema}.run SET state = 77 WHERE id = 'bad'"),
                new Planting(
                        "the attributes of a run",
                        "",
                        "SELECT ${schema}.start_run('reader', 'bad')",
                        "wait SUSPENDED",
                        "UPDATE ${schema}.run SET attributes = '[1]' WHERE id = 'bad'"),
                new Planting(
                        "a schedule",
                        "",
                        "INSERT INTO ${schema}.inbox (seed, wish, id, definition, queue, input) VALUES (1, 0, 'schedule:bad', 'perdure.schedule', 'perdure.schedules', 'garbage')"));
    }

    @ParameterizedTest
    @MethodSource("plantings")
    void stops_nothing_else(Planting planting) {
        for (String sql : planting.sql()) {
            if (sql.startsWith("wait ")) {
                await(sql)
                        .atMost(PATIENCE)
                        .until(() -> sql.endsWith(" "
                                + TestServer.query("SELECT state FROM %s.runs WHERE id = 'bad'".formatted(schema))));
            } else {
                execute(sql);
            }
        }
        awaitOthers();
        awaitOthers();
        if (!planting.logged().isEmpty()) {
            awaitLogged(planting.logged());
        }
    }

    private Planting planting(String what) {
        return plantings().filter(each -> each.what().equals(what)).findFirst().orElseThrow();
    }

    @Test
    void is_logged_once_and_the_run_says_why_it_waits() {
        stops_nothing_else(planting("a version with a line break, of a run that is ready"));
        assertThat(reason()).isEqualTo("No live worker has the definition 'echo' in version 'a\nb'.");
        assertThat(timesLogged("of each run in ready with the version 'a\\nb'")).isEqualTo(1);
    }

    @Test
    void is_logged_once_and_the_run_says_which_labels_it_waits_for() {
        stops_nothing_else(planting("a placement that is none"));
        assertThat(reason()).isEqualTo("No live worker of the queue 'default' has the label 'no requirement'.");
        assertThat(timesLogged("of each run in ready with the version '\\nno requirement'"))
                .isEqualTo(1);
    }

    @Test
    void is_logged_once_and_the_run_and_its_queue_say_what_is_wrong_with_its_limits() {
        stops_nothing_else(planting("a limit of a queue"));
        assertThat(reason())
                .isEqualTo(
                        "The settings of its queue or limiter cannot be read: invalid input syntax for type integer: \"many\". Set them anew with queues limit or limiters limit.");
        assertThat(perdure.queues().get("bad").paused().orElseThrow())
                .startsWith(
                        "No run begins. The settings of the queue 'bad' are {concurrency=many}, and one of them cannot be read: ");
        assertThat(timesLogged("The row with the name 'bad' cannot be read and is left out: The settings of the queue"))
                .isEqualTo(1);
        perdure.queues().limit(Queue.named("bad").concurrency(1));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(
                                TestServer.query("SELECT state FROM %s.runs WHERE id = 'bad'".formatted(schema)))
                        .isEqualTo("COMPLETED"));
    }

    private String reason() {
        return perdure.run(RunId.of("bad"), new TypeRef<String>() {})
                .info()
                .reason()
                .orElseThrow();
    }

    private long timesLogged(String words) {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getFormattedMessage().contains(words))
                .count();
    }
}
