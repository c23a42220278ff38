package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two operators retry runs that belong together at the same moment. */
final class RetryRaceIT {
    private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);
    private static final Payload NO = StoreFixture.json("\"no\"");

    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;
    private RunRef parent;
    private RunRef child;

    /** A parent that was killed while it waited for its child, which has failed since. */
    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(RetryRaceIT.class);
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(store);
        parent = fixture.start("parent");
        child = ((Outcome.Started)
                        fixture.apply(new Change.Start(StoreFixture.child(parent, "child", 1), fixture.worker)))
                .run();
        Entry begun = new Entry(1, 1, Kind.CHILD, "child", Status.BEGUN, StoreFixture.json("1"));
        List<Effect> none = List.of();
        fixture.apply(new Change.Advance(
                parent, 1, List.of(begun), none, new Move.End(RunState.CANCELLED, Payload.EMPTY, "by mistake")));
        fixture.apply(new Change.Advance(child, 1, List.of(), none, new Move.End(RunState.FAILED, NO, "it failed")));
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private Change.Retry retryOf(RunRef run) {
        return new Change.Retry(
                run.id(), store.runs().find(run.id()).orElseThrow().info().changedAt());
    }

    private CompletableFuture<Outcome> retried(Change.Retry retry) {
        return CompletableFuture.supplyAsync(
                () -> fixture.applyPatiently(List.of(retry)).getFirst(), VIRTUAL);
    }

    private RunState state(RunRef run) {
        return store.runs().find(run.id()).orElseThrow().info().state();
    }

    @Test
    void a_parent_does_not_get_the_failure_of_a_child_that_continues() throws Exception {
        Change.Retry ofParent = retryOf(parent);
        Change.Retry ofChild = retryOf(child);
        CompletableFuture<Outcome> parentRetried;
        CompletableFuture<Outcome> childRetried;
        try (Connection other = TestServer.plain().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            // The retry of the child has begun, and sees a parent that has ended.
            statement.execute("SELECT FROM %s.run WHERE id = 'child' FOR UPDATE".formatted(schema));
            childRetried = retried(ofChild);
            TestServer.awaitBlocked();
            parentRetried = retried(ofParent);
            TestServer.awaitBlocked(2, parentRetried::isDone);
            other.commit();
        }

        assertThat(parentRetried.get(5, TimeUnit.SECONDS)).isInstanceOf(Outcome.Applied.class);
        assertThat(state(parent)).isEqualTo(RunState.READY);
        boolean continues = childRetried.get(5, TimeUnit.SECONDS) instanceof Outcome.Applied;
        assertThat(state(child)).isEqualTo(continues ? RunState.READY : RunState.FAILED);
        assertThat(store.mailboxes().unread(parent, 0, 1_000)).hasSize(continues ? 0 : 1);
    }

    @Test
    void tasks_do_not_begin_anew_beside_a_start_under_the_same_key() throws Exception {
        RunRef other = fixture.start("other");
        NewRun dag = StoreFixture.newRun("dag")
                .withAdmission(Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("k"), false));
        fixture.apply(
                new Change.Start(dag, null, List.of(), List.of(new Task(StoreFixture.newRun("task"), List.of()))));
        fixture.apply(new Change.Command(dag.id(), Change.CommandKind.KILL, "no"));
        Change.Rerun rerun = new Change.Rerun(dag.id(), List.of(RunId.of("task")), 7);
        CompletableFuture<Outcome> rerunning;
        try (Connection start = TestServer.plain().getConnection();
                Statement statement = start.createStatement()) {
            start.setAutoCommit(false);
            // What a start of the other run under the key does.
            statement.execute("UPDATE %s.start_key SET run = %d".formatted(schema, other.key()));
            rerunning = CompletableFuture.supplyAsync(
                    () -> fixture.applyPatiently(List.of(rerun)).getFirst(), VIRTUAL);
            TestServer.awaitBlocked();
            start.commit();
        }

        assertThat(rerunning.get(5, TimeUnit.SECONDS))
                .isEqualTo(new Outcome.Refused(Change.Rerun.keyTaken(dag.id(), "k", "other")));
        assertThat(store.runs().find(dag.id()).orElseThrow().info().state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_parent_that_is_retried_after_its_child_waits_for_it() {
        assertThat(fixture.apply(retryOf(child))).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(retryOf(parent))).isInstanceOf(Outcome.Applied.class);
        assertThat(store.mailboxes().unread(parent, 0, 1_000)).isEmpty();
    }
}
