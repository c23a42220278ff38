package dev.perdure.postgres;

import static dev.perdure.StartKey.debounce;
import static dev.perdure.StartKey.deduplicate;
import static dev.perdure.StartOptions.defaults;
import static dev.perdure.StartOptions.under;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.queue.Queue;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Starts under keys, and with a time to start within, from transactions of callers and from SQL. */
final class OutboxKeyIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final TypeRef<String> TEXT = new TypeRef<>() {};

    private final String schema = TestServer.schemaOf(OutboxKeyIT.class);
    private final Definition<String, String> sleep = Definition.of("sleep", String.class, String.class, (ctx, in) -> {
        ctx.sleep(Duration.ofHours(1));
        return in;
    });
    private final Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, in) -> in);
    private HikariDataSource pool;
    private PostgresStore store;
    private Perdure perdure;

    @BeforeEach
    void open() {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
        perdure = Perdure.on(store).register(echo, sleep).start();
    }

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    private RunId committed(Definition<String, String> flow, String input, StartOptions options) throws SQLException {
        try (Connection caller = TestServer.plain().getConnection()) {
            caller.setAutoCommit(false);
            Outbox outbox = perdure.outbox(PostgresOutbox.on(store).in(caller));
            RunId id = outbox.start(Invocation.of(flow, input), options);
            caller.commit();
            return id;
        }
    }

    private String fromSql(String arguments) {
        return TestServer.query("SELECT %s.start_run_under_key(%s)".formatted(schema, arguments));
    }

    private RunInfo ended(RunId id) {
        await().atMost(PATIENCE)
                .until(() -> store.runs()
                        .find(id)
                        .filter(found -> found.info().state().isTerminal())
                        .isPresent());
        return perdure.run(id, TEXT).info();
    }

    private void begun(RunId id) {
        await().atMost(PATIENCE)
                .until(() -> store.runs()
                        .find(id)
                        .filter(found -> found.info().state() == RunState.SUSPENDED)
                        .isPresent());
    }

    private void assertDuplicate(RunId id, RunId holder) {
        RunInfo info = ended(id);
        assertThat(info.state()).isEqualTo(RunState.CANCELLED);
        assertThat(info.reason()).contains("A duplicate: run '%s' has the key 'k'.".formatted(holder));
    }

    @Test
    void a_start_that_is_refused_or_attaches_becomes_a_cancelled_run() throws Exception {
        RunId first = committed(sleep, "x", under(deduplicate("k").refuse()));
        begun(first);
        assertDuplicate(committed(sleep, "x", under(deduplicate("k").refuse())), first);
        assertDuplicate(committed(sleep, "x", under(deduplicate("k"))), first);
        assertDuplicate(RunId.of(fromSql("'sleep', 'k', 'ended refuse', '\"x\"'")), first);
    }

    @Test
    void debounced_starts_of_callers_and_of_sql_make_one_run_with_the_last_input() throws Exception {
        StartOptions quiet = under(debounce("k", Duration.ofSeconds(2), Duration.ofMinutes(1)));
        RunId first = committed(echo, "1", quiet);
        begun(first);
        RunId second = committed(echo, "2", quiet);
        RunId third = RunId.of(fromSql("'echo', 'k', 'quiet', '\"3\"', interval '2 seconds', interval '1 minute'"));
        assertThat(ended(second).reason().orElseThrow())
                .contains("Debounced: run '%s' has the key 'k'".formatted(first));
        assertThat(ended(third).state()).isEqualTo(RunState.CANCELLED);
        assertThat(perdure.run(first, TEXT).result(PATIENCE)).isEqualTo("3");
    }

    @Test
    void a_start_that_replaces_begins_after_the_one_before() throws Exception {
        RunId first = committed(sleep, "x", under(deduplicate("k").replace()));
        begun(first);
        RunId second = committed(sleep, "y", under(deduplicate("k").replace()));
        assertThat(ended(first).state()).isEqualTo(RunState.CANCELLED);
        begun(second);
    }

    @Test
    void a_run_of_a_caller_that_does_not_begin_in_time_is_cancelled() throws Exception {
        RunId late = committed(echo, "x", defaults().queue("elsewhere").startWithin(Duration.ofMillis(200)));
        assertThat(ended(late).reason().orElseThrow())
                .contains("The run did not begin within PT0.2S in the queue 'elsewhere'");
    }

    @Test
    void a_start_whose_key_in_its_queue_is_full_becomes_a_cancelled_run() throws Exception {
        for (Queue.WhenKeyFull policy : List.of(Queue.WhenKeyFull.REFUSE, Queue.WhenKeyFull.DROP_NEWEST)) {
            String queue = "when-" + policy;
            perdure.queues().declare(Queue.named(queue).perKey(1).whenKeyFull(policy));
            RunId first = committed(sleep, "x", defaults().queue(queue).key("acme"));
            await().atMost(PATIENCE).until(() -> store.runs().find(first).isPresent());
            RunInfo outbox = ended(committed(sleep, "y", defaults().queue(queue).key("acme")));
            TestServer.query("SELECT 'x' FROM %s.start_run('sleep', 'sql-%s', queue => '%s', queue_key => 'acme')"
                    .formatted(schema, policy, queue));
            RunInfo sql = ended(RunId.of("sql-" + policy));
            String reason =
                    "%s. The key 'acme' of the queue '%s' is full: 1 of 1 places are taken or waited for, by '%s'."
                            .formatted(policy == Queue.WhenKeyFull.REFUSE ? "Refused" : "Dropped", queue, first);
            for (RunInfo run : List.of(outbox, sql)) {
                assertThat(run.state()).isEqualTo(RunState.CANCELLED);
                assertThat(run.reason()).hasValue(reason);
            }
        }
    }

    @Test
    void a_start_of_a_caller_cancels_the_oldest_run_of_its_key() throws Exception {
        Queue queue = Queue.named("latest").perKey(1).whenKeyFull(Queue.WhenKeyFull.CANCEL_OLDEST);
        try (Perdure worker = Perdure.on(store).register(sleep).queues(queue).start()) {
            RunId first = committed(sleep, "x", defaults().queue("latest").key("acme"));
            begun(first);
            RunId second = committed(sleep, "y", defaults().queue("latest").key("acme"));
            assertThat(ended(first).reason().orElseThrow())
                    .startsWith("Cancelled in favour of run '%s'".formatted(second));
            begun(second);
            assertThat(worker.queues().get("latest").load().begun()).isEqualTo(1);
        }
    }

    @Test
    void a_run_of_sql_that_does_not_begin_in_time_is_cancelled() {
        TestServer.query(
                "SELECT 'x' FROM %s.start_run('echo', 'late', queue => 'elsewhere', start_within => interval '200 ms')"
                        .formatted(schema));
        RunId under = RunId.of(
                fromSql("'echo', 'k', queue => 'elsewhere', queue_key => 'x', start_within => interval '200 ms'"));
        for (RunId run : List.of(RunId.of("late"), under)) {
            assertThat(ended(run).reason().orElseThrow())
                    .contains("The run did not begin within PT0.2S in the queue 'elsewhere'");
        }
    }

    @Test
    void runs_of_callers_and_of_sql_require_labels_of_workers() throws SQLException {
        List<RunId> runs = List.of(
                committed(echo, "\"x\"", defaults().requires("gpu=true").prefers("region=eu")),
                RunId.of("of-sql"),
                RunId.of(
                        fromSql("'echo', 'k', input => '\"x\"', requires => 'gpu=true,memory>=16', prefers => 'a=b'")));
        TestServer.query(
                "SELECT 'x' FROM %s.start_run('echo', 'of-sql', '\"x\"', requires => 'gpu=true')".formatted(schema));
        for (RunId run : runs) {
            await().atMost(PATIENCE)
                    .until(
                            () -> store.runs()
                                    .find(run)
                                    .flatMap(found -> found.info().reason()),
                            reason -> reason.filter(why ->
                                            why.startsWith("No live worker of the queue 'default' has the label"))
                                    .isPresent());
        }
        assertThat(TestServer.query("SELECT requires || ' ' || prefers FROM %s.runs WHERE id = '%s'"
                        .formatted(schema, runs.getLast())))
                .isEqualTo("gpu=true,memory>=16 a=b");
        try (Perdure gpu = Perdure.on(store)
                .register(echo, sleep)
                .label("gpu", "true")
                .label("memory", "32")
                .start()) {
            for (RunId run : runs) {
                assertThat(gpu.run(run, TEXT).result()).contains("x");
            }
        }
    }

    @Test
    void sql_is_told_what_is_wrong_with_a_key() {
        wrong("'echo', 'k', requires => 'gpu'", "The requirement 'gpu' is not a label");
        wrong("'echo', 'k', prefers => 'memory>=much'", "Write it like memory>=16, or use =.");
        wrong("'echo', 'k', requires => 'worker=1'", "names a worker");
        wrong(
                "'echo', 'k', start_within => interval '0'",
                "The time to start within is 00:00:00; it must be longer than zero");
        wrong(
                "'echo', 'k', 'quiet', 'null', interval '1 s', interval '2 s', start_within => interval '1 s'",
                "leave the time to start within out");
        wrong("'echo', 'k', weight => 0", "The weight is 0; it is at least 1.");
        wrong("'echo', 'k', queue_key => ''", "The key is empty.");
        wrong("'echo', ''", "The deduplication key is empty.");
        wrong("'echo', 'k', 'ended twice'", "The rule 'ended twice' is unknown. Give begun or ended with attach");
        wrong("'echo', 'k', 'live'", "The times do not fit the rule live");
        wrong("'echo', 'k', 'quiet', 'null', interval '2 seconds', interval '1 second'", "Make it at least as long.");
    }

    private void wrong(String arguments, String message) {
        assertThatThrownBy(() -> fromSql(arguments)).rootCause().hasMessageContaining(message);
    }
}
