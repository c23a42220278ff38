package dev.perdure.postgres;

import static dev.perdure.spi.change.Change.CommandKind.PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.WaitReason;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The view {@code runs} says of every run that waits what its handle says. Both are written in SQL of their own. A viewer
 * reads the view here who has planted types of its own, which functions with the rights of the owner must not find.
 */
final class RunsViewIT {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Set<String> QUEUES =
            Set.of("default", "paused", "full", "keyed", "slow", "slow-key", "own", "own-of-shards");

    private static final List<String> PLANTED = List.of(
            "text",
            "int2",
            "int4",
            "int8",
            "bool",
            "timestamptz",
            "interval",
            "jsonb",
            "bytea",
            "numeric",
            "float8",
            "regclass");

    private final String schema = TestServer.schemaOf(RunsViewIT.class);
    private final String viewer = "viewer_of_" + schema;
    private final PostgresStore store =
            PostgresStore.on(TestServer.plain()).schema(schema).open();
    private final WorkerId worker = join("order", null, QUEUES);

    @BeforeEach
    void createViewer() {
        TestServer.execute("DROP ROLE IF EXISTS " + viewer);
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'secret'".formatted(viewer));
        TestServer.execute(PostgresStore.grants(schema, viewer, viewer));
    }

    @AfterEach
    void close() {
        store.close();
        TestServer.execute("DROP OWNED BY " + viewer);
    }

    private WorkerId join(String definition, String version, Set<String> queues) {
        WorkerId joined = new WorkerId(UUID.randomUUID());
        Map<String, String> labels = Map.of(Requirement.WORKER, joined.value().toString(), "region", "eu");
        store.leases().join(new Joining(joined, Set.of(definition), version, HOUR, 4, Set.of(), queues, labels));
        return joined;
    }

    private Outcome apply(Change change) {
        return store.ledger().apply(new Lane(worker, 0), List.of(change)).getFirst();
    }

    private static NewRun run(String id, String definition, String queue, String version) {
        return new NewRun(RunId.of(id), definition, StoreFixture.json("{}"), 1, queue, 0, version, null);
    }

    private void ready(String id, String queue) {
        ready(run(id, "order", queue, null));
    }

    private void ready(NewRun run) {
        assertThat(apply(new Change.Start(run, null))).isInstanceOf(Outcome.Started.class);
    }

    private RunRef running(NewRun run) {
        return ((Outcome.Started) apply(new Change.Start(run, worker))).run();
    }

    private RunRef running(String id) {
        return running(StoreFixture.newRun(id));
    }

    /** The first of these runs is claimed, so that the queue has no room for the second. */
    private void oneOfTwo(NewRun first, NewRun second) {
        ready(first);
        Poll poll = new Poll(worker, Set.of("order"), Set.of(first.queue()), null, 1, true);
        assertThat(store.dispatch().poll(poll).claimed()).hasSize(1);
        ready(second);
    }

    private void waits(String id, RunState state, Due due, Awaited awaited, List<Effect> effects, Entry... entries) {
        Move wait = new Move.Wait(state, due, awaited, 0);
        waits(running(id), wait, effects, entries);
    }

    private void waits(RunRef run, Move wait, List<Effect> effects, Entry... entries) {
        assertThat(apply(new Change.Advance(run, 1, List.of(entries), effects, wait)))
                .isInstanceOf(Outcome.Applied.class);
    }

    private static Awaited mail(Channel... channels) {
        return new Awaited(Set.of(channels), channels.length);
    }

    private static Entry child(int position, String written) {
        return new Entry(position, 1, Entry.Kind.CHILD, "leaf", Entry.Status.BEGUN, StoreFixture.json(written));
    }

    @Test
    void of_runs_that_wait_for_a_place() throws SQLException {
        store.queues()
                .declare(List.of(
                        Queue.named("paused").concurrency(1),
                        Queue.named("full").concurrency(1),
                        Queue.named("keyed").perKey(1),
                        Queue.named("slow").rate(1, HOUR),
                        Queue.named("slow-key").ratePerKey(1, HOUR),
                        Queue.named("own").perWorker(1),
                        Queue.of("own-of-shards", Map.of("per_worker", "0", "whole:per_worker", "1", "shards", "2"))));
        ready(run("no-definition", "other", "default", null));
        ready(run("no-version", "order", "default", "v9"));
        ready("no-queue", "nowhere");
        ready(run("no-label", "order", "default", null).at(Placement.ANYWHERE.requiring(Requirement.of("gpu=true"))));
        ready(run("preferring", "order", "default", null)
                .at(Placement.ANYWHERE.preferring(Requirement.of("region=eu"))));
        // Within the five seconds, however slow the machine is.
        TestServer.execute(
                "UPDATE %s.run SET changed_at = now() + interval '1 hour' WHERE id = 'preferring'".formatted(schema));
        ready(run("drained", "drained", "default", null));
        store.versions().obeys(join("drained", "v1", Set.of("default")), Set.of("drained"));
        ready("of-paused", "paused");
        store.queues().apply(new Order.Pause("paused", "not today"));
        oneOfTwo(run("full-1", "order", "full", null), run("full-2", "order", "full", null));
        oneOfTwo(
                run("keyed-1", "order", "keyed", null).withQueueKey("k"),
                run("keyed-2", "order", "keyed", null).withQueueKey("k"));
        oneOfTwo(run("slow-1", "order", "slow", null), run("slow-2", "order", "slow", null));
        oneOfTwo(
                run("slow-key-1", "order", "slow-key", null).withQueueKey("k"),
                run("slow-key-2", "order", "slow-key", null).withQueueKey("k"));
        oneOfTwo(run("own-1", "order", "own", null), run("own-2", "order", "own", null));
        oneOfTwo(run("whole-1", "order", "own-of-shards", null), run("whole-2", "order", "own-of-shards", null));
        ready("for-room", "default");
        TestServer.execute("UPDATE %s.run SET reason = 'It was recovered.' WHERE id = 'full-2'".formatted(schema));

        String queue = "READY: The queue ";
        assertSaid("no-definition", "READY: No live worker has the definition 'other'.");
        assertSaid("no-version", "READY: No live worker has the definition 'order' in version 'v9'.");
        assertSaid("no-queue", "READY: No live worker takes runs from the queue 'nowhere'.");
        assertSaid("no-label", "READY: No live worker of the queue 'default' has the label 'gpu=true'.");
        assertSaid(
                "preferring",
                "READY: It waits up to 5 seconds for a worker with the label 'region=eu', which it prefers.");
        assertSaid("drained", "READY: Every live worker that has the definition 'drained' drains.");
        assertSaid("of-paused", queue + "'paused' is paused: not today");
        assertSaid("full-2", queue + "'full' is full: 1 of 1 places are taken, by 'full-1'.");
        assertSaid(
                "keyed-2", "READY: The key 'k' of the queue 'keyed' is full: 1 of 1 places are taken, by 'keyed-1'.");
        assertSaid("slow-2", "READY: The rate of the queue 'slow' allows no more before ");
        assertSaid("slow-key-2", "READY: The rate of the key 'k' of the queue 'slow-key' allows no more before ");
        assertSaid("own-2", "READY: Every worker of the queue 'own' is at its limit of 1.");
        assertSaid("whole-2", "READY: Every worker of the queue 'own-of-shards' is at its limit of 1.");
        assertSaid("for-room", "READY: ");
        assertSaid("full-1", "RUNNING: ");
    }

    @Test
    void of_suspended_runs() throws SQLException {
        Due never = new Due.Never();
        RunState suspended = RunState.SUSPENDED;
        waits("timer", suspended, new Due.In(HOUR), Awaited.NOTHING, List.of());
        waits("message", suspended, new Due.In(HOUR), mail(Channel.message("it's paid")), List.of());
        waits("promise", suspended, never, mail(Channel.promise("approval"), Channel.promise("stock")), List.of());
        apply(new Change.Deliver(RunId.of("promise"), mailOf(Channel.promise("stock"))));
        waits(
                "answers",
                suspended,
                never,
                mail(Channel.answer(1), Channel.answer(2), Channel.answer(3), Channel.answer(4), Channel.answer(5)),
                List.of(
                        new Effect.Awakeable("hash", 1),
                        new Effect.Subscribe("stock", "", 2),
                        new Effect.Subscribe("price", "tea", 3),
                        new Effect.Awakeable("settled", 5)));
        apply(new Change.Deliver(RunId.of("answers"), mailOf(Channel.answer(5)), 0));
        RunRef caller = running("caller");
        Channel[] calls = {Channel.answer(1), Channel.answer(2), Channel.answer(3)};
        waits(
                caller,
                new Move.Wait(suspended, never, mail(calls), 0),
                List.of(new Effect.Start(StoreFixture.child(caller, "here", 2))),
                child(1, "there\nfingerprint"),
                child(2, "here"),
                child(3, "answered"));
        apply(new Change.Deliver(RunId.of("caller"), mailOf(Channel.answer(3)), 0));
        store.permits().declare(List.of(Limiter.named("stripe").concurrency(1)));
        RunRef waiting = running("permit");
        assertThat(store.permits().take(worker, List.of(request(running("permit-holder")), request(waiting))))
                .containsExactly(Answer.HELD, Answer.WAITS);
        waits(waiting, new Move.Wait(suspended, never, new Awaited(Set.of(), 1, Set.of("stripe")), 0), List.of());

        assertSaid("timer", "SUSPENDED: Waits until ");
        assertSaid("message", "SUSPENDED: Waits for message 'it's paid', until ");
        assertSaid("promise", "SUSPENDED: Waits for promise 'approval'.");
        assertSaid(
                "answers",
                "SUSPENDED: Waits for awakeable at position 1, event 'stock', event 'price' with key 'tea'.");
        assertSaid("caller", "SUSPENDED: Waits for run 'there', run 'here'.");
        assertSaid("permit", "SUSPENDED: The limiter 'stripe' is full: 1 of 1 permits are held, by 'permit-holder'.");
    }

    private static Request request(RunRef run) {
        return new Request("stripe", run, 1, 1, 1);
    }

    private static Mail mailOf(Channel channel) {
        return Mail.value(channel, UUID.randomUUID(), StoreFixture.json("1"));
    }

    @Test
    void of_runs_that_back_off_are_pending_paused_or_have_ended() throws SQLException {
        Entry attempt = new Entry(1, 1, Entry.Kind.STEP, "charge", Entry.Status.ATTEMPT, StoreFixture.json("{}"));
        waits("attempt", RunState.BACKING_OFF, new Due.In(HOUR), Awaited.NOTHING, List.of(), attempt);
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "anna"), Hold.EXCLUSIVE);
        running(run("first", "order", "default", null).on(call));
        running(run("second", "order", "default", null).on(call));
        ready(run("ready-holder", "other", "default", null)
                .on(new ObjectCall(new ObjectKey("cart", "ben"), Hold.EXCLUSIVE)));
        ready(run("behind-ready", "order", "default", null)
                .on(new ObjectCall(new ObjectKey("cart", "ben"), Hold.EXCLUSIVE)));
        List<Task> tasks = List.of(
                new Task(StoreFixture.newRun("dag/a"), List.of()), new Task(StoreFixture.newRun("dag/b"), List.of(0)));
        apply(new Change.Start(StoreFixture.newRun("dag"), worker, List.of(), tasks));
        ready("paused", "default");
        apply(new Change.Command(RunId.of("paused"), PAUSE, "to look at it"));
        apply(StoreFixture.complete(running("completed")));
        apply(new Change.Advance(
                running("failed"), 1, List.of(), new Move.End(RunState.FAILED, StoreFixture.json("{}"), "it broke")));

        assertSaid("attempt", "BACKING_OFF: Attempt 1 of step 'charge' failed. The next attempt is at ");
        assertSaid("second", "PENDING: Run 'first' holds the object 'cart' with the key 'anna' and is RUNNING.");
        assertSaid(
                "behind-ready",
                "PENDING: Run 'ready-holder' holds the object 'cart' with the key 'ben' and is READY: No live worker has"
                        + " the definition 'other'.");
        assertSaid("dag", "PENDING: Waits for the end of 'dag/b'.");
        assertSaid("dag/b", "PENDING: Waits for the end of 'dag/a'.");
        assertSaid("paused", "PAUSED: to look at it");
        assertSaid("completed", "COMPLETED: ");
        assertSaid("failed", "FAILED: it broke");
    }

    private void assertSaid(String id, String beginning) throws SQLException {
        RunInfo info = store.runs().find(RunId.of(id)).orElseThrow().info();
        String said = info.state() + ": " + info.reason().orElse("");
        if (beginning.endsWith(" ") && info.reason().isPresent()) {
            assertThat(said).startsWith(beginning);
        } else {
            assertThat(said).isEqualTo(beginning);
        }
        assertThat(seen(id)).isEqualTo(info);
    }

    /** The columns of the view, as handles put them together. */
    private RunInfo seen(String id) throws SQLException {
        String columns = "state, definition, reason, created_at, changed_at, wake_at, recoveries, awaited";
        try (Connection connection = TestServer.plain(viewer, "secret").getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = readWithPlantedTypes(
                        statement, "SELECT %s FROM %s.runs WHERE id = '%s'".formatted(columns, schema, id))) {
            assertThat(row.next()).isTrue();
            RunState state = RunState.valueOf(row.getString("state"));
            Optional<Instant> wakeAt =
                    Optional.ofNullable(row.getTimestamp("wake_at")).map(Timestamp::toInstant);
            List<String> awaited =
                    Arrays.asList((String[]) row.getArray("awaited").getArray());
            return new RunInfo(
                    RunId.of(id),
                    row.getString("definition"),
                    state,
                    WaitReason.of(state, row.getString("reason"), wakeAt.orElse(null), awaited),
                    row.getTimestamp("created_at").toInstant(),
                    row.getTimestamp("changed_at").toInstant(),
                    wakeAt,
                    row.getInt("recoveries"),
                    awaited,
                    Description.NONE);
        }
    }

    /** A domain calls its function where a value gets its type: with the rights of the owner, if one of ours found it. */
    private static ResultSet readWithPlantedTypes(Statement statement, String query) throws SQLException {
        statement.execute(
                "CREATE FUNCTION pg_temp.planted(text) RETURNS boolean LANGUAGE plpgsql AS "
                        + "$$ BEGIN IF current_user <> session_user THEN RAISE EXCEPTION 'called as %', current_user; END IF; RETURN true; END $$");
        for (String type : PLANTED) {
            statement.execute(
                    "CREATE DOMAIN pg_temp.%1$s AS pg_catalog.%1$s CHECK (pg_temp.planted(VALUE::pg_catalog.text))"
                            .formatted(type));
        }
        return statement.executeQuery(query);
    }
}
