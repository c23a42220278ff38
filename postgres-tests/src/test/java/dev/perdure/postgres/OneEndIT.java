package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunState;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The end of a child that is alone in its batch, by the short way that is tried when the last mail met a run in memory.
 */
final class OneEndIT {
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool)
                .schema(TestServer.schemaOf(OneEndIT.class))
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private void theLastOneMetARunInMemory() {
        fixture.apply(StoreFixture.message(fixture.start("another-" + UUID.randomUUID()), "news"));
    }

    /** A child in memory that has got two messages. */
    private RunRef child(RunRef parent, String id) {
        Change.Start start = new Change.Start(StoreFixture.child(parent, id, 1), fixture.worker);
        RunRef run = ((Outcome.Started) fixture.apply(start)).run();
        fixture.apply(List.of(StoreFixture.message(run, "go"), StoreFixture.message(run, "later")));
        return run;
    }

    private static Change.Advance end(RunRef child) {
        Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("\"done\""), "");
        return new Change.Advance(child, 1, List.of(StoreFixture.step(1)), List.of(new Effect.Take(1)), end);
    }

    private String rows(String table, String columns, RunRef run, String order) {
        return TestServer.query("SELECT string_agg(ROW(%s)::text, ';' ORDER BY %s) FROM %s.%s WHERE key = %d"
                .formatted(columns, order, store.schema().name(), table, run.key()));
    }

    private String leftBehind(RunRef parent, RunRef child) {
        return String.join(
                "\n",
                rows("run", "state, epoch, owner, reason, wakes, mails, changes, restarts", parent, "key"),
                rows("run", "state, epoch, owner, reason, wakes, mails, changes, wake_at", child, "key"),
                rows("journal", "position, note, kind, status, name, payload", child, "position"),
                rows("event", "number, state, reason", child, "number"),
                rows(
                        "mail",
                        "number, position, restarts, channel, status, name, text, payload, taken",
                        child,
                        "number"),
                rows(
                        "mail",
                        "number, position, restarts, channel, status, name, text, payload, taken",
                        parent,
                        "number"),
                String.valueOf(rows("held", "worker, woken", child, "key")),
                rows("held", "worker, woken", parent, "key"));
    }

    @Test
    void leaves_the_same_behind_as_the_long_way() {
        RunRef one = fixture.start("one");
        RunRef first = child(one, "first");
        RunRef two = fixture.start("two");
        RunRef second = child(two, "second");
        RunRef waits = fixture.start("waits");
        fixture.apply(StoreFixture.await(waits, Channel.message("news")));

        fixture.apply(StoreFixture.message(waits, "news")); // so that the next is not tried the short way
        assertThat(fixture.apply(end(first))).isInstanceOf(Outcome.Applied.class);
        theLastOneMetARunInMemory();
        assertThat(fixture.apply(end(second)))
                .isInstanceOfSatisfying(
                        Outcome.Applied.class,
                        applied -> assertThat(applied.state()).isEqualTo(RunState.COMPLETED));

        assertThat(leftBehind(two, second)).isEqualTo(leftBehind(one, first));
        assertThat(store.mailboxes().unread(two, 0, 1_000_000))
                .extracting(Arrived::mail)
                .extracting(Mail::channel)
                .containsExactly(Channel.answer(1));
    }

    @Test
    void is_made_once() {
        RunRef parent = fixture.start("parent");
        RunRef child = child(parent, "child");
        theLastOneMetARunInMemory();
        assertThat(fixture.apply(end(child))).isInstanceOf(Outcome.Applied.class);
        theLastOneMetARunInMemory();
        assertThat(fixture.apply(end(child))).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(store.mailboxes().unread(parent, 0, 1_000_000)).hasSize(1);
    }

    @Test
    void finds_out_what_else_the_parent_is() {
        RunRef waits = fixture.start("waits");
        RunRef ofWaiting = child(waits, "of-waiting");
        fixture.apply(StoreFixture.await(waits, Channel.answer(1)));
        RunRef ended = fixture.start("ended");
        RunRef ofEnded = child(ended, "of-ended");
        fixture.apply(StoreFixture.complete(ended));

        theLastOneMetARunInMemory();
        assertThat(fixture.apply(end(ofWaiting))).isInstanceOf(Outcome.Applied.class);
        assertThat(store.runs().find(waits.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        theLastOneMetARunInMemory();
        assertThat(fixture.apply(end(ofEnded))).isInstanceOf(Outcome.Applied.class);
        assertThat(store.runs().find(ofEnded.id()).orElseThrow().info().state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void is_not_made_by_a_worker_that_is_taken_for_dead() {
        RunRef parent = fixture.start("parent");
        RunRef child = child(parent, "child");
        theLastOneMetARunInMemory();
        TestServer.execute("DELETE FROM %s.lane".formatted(store.schema().name()));
        assertThat(fixture.apply(end(child))).isInstanceOf(Outcome.Fenced.class);
        assertThat(store.mailboxes().unread(parent, 0, 1_000_000)).isEmpty();
        assertThat(store.runs().find(child.id()).orElseThrow().info().state()).isEqualTo(RunState.RUNNING);
    }
}
