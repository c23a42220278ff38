package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.message;
import static dev.perdure.postgres.StoreFixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Outcome.Undelivered.Why;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A mail that is alone in its batch, by the short way that is tried when the last one met a run in memory. */
final class OneMessageIT {
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;
    private RunRef run;

    @BeforeEach
    void open() {
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool)
                .schema(TestServer.schemaOf(OneMessageIT.class))
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        run = fixture.start("run");
        theLastOneMetARunInMemory();
    }

    private void theLastOneMetARunInMemory() {
        fixture.apply(message(fixture.start("another-" + UUID.randomUUID()), "news"));
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private List<Mail> unread(RunRef of) {
        return store.mailboxes().unread(of, 0, 1_000_000).stream()
                .map(Arrived::mail)
                .toList();
    }

    @Test
    void arrives_and_is_numbered_and_wakes() {
        Change.Deliver first = message(run, "news");
        Change.Deliver second = message(run, "news");
        assertThat(fixture.apply(first)).isInstanceOf(Outcome.Applied.class);
        assertThat(store.ledger().apply(Lane.client(0), List.of(second)).getFirst())
                .isInstanceOfSatisfying(
                        Outcome.Applied.class,
                        applied -> assertThat(applied.state()).isEqualTo(RunState.RUNNING));
        assertThat(unread(run)).containsExactly(first.mail(), second.mail());
        assertThat(fixture.apply(StoreFixture.await(run, Channel.message("news"))))
                .isInstanceOfSatisfying(Outcome.Woken.class, woken -> {
                    assertThat(woken.control().wakes()).isEqualTo(2);
                    assertThat(woken.control().mails()).isEqualTo(2);
                });
    }

    @Test
    void arrives_once_although_it_is_sent_twice() {
        Change.Deliver delivery = message(run, "news");
        assertThat(fixture.apply(delivery)).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(delivery)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).containsExactly(delivery.mail());
    }

    @Test
    void settles_a_promise_once() {
        Mail first = Mail.value(Channel.promise("paid"), UUID.randomUUID(), StoreFixture.json("1"));
        Mail second = Mail.value(Channel.promise("paid"), UUID.randomUUID(), StoreFixture.json("2"));
        assertThat(fixture.apply(new Change.Deliver(run.id(), first))).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(new Change.Deliver(run.id(), second))).isEqualTo(new Outcome.Undelivered(Why.TAKEN));
        assertThat(unread(run)).containsExactly(first);
    }

    @Test
    void finds_out_what_else_its_run_is() {
        RunRef waits = fixture.start("waits");
        fixture.apply(StoreFixture.await(waits, Channel.message("news")));
        RunRef ended = fixture.start("ended");
        fixture.apply(complete(ended));

        theLastOneMetARunInMemory();
        assertThat(fixture.apply(message(waits, "news")))
                .isInstanceOfSatisfying(
                        Outcome.Applied.class,
                        applied -> assertThat(applied.state()).isEqualTo(RunState.READY));
        theLastOneMetARunInMemory();
        assertThat(fixture.apply(message(ended, "news"))).isEqualTo(new Outcome.Undelivered(Why.ENDED));
        theLastOneMetARunInMemory();
        RunRef nobody = new RunRef(RunId.of("nobody"), 1);
        assertThat(fixture.apply(message(nobody, "news"))).isInstanceOf(Outcome.UnknownRun.class);
    }

    @Test
    void goes_with_the_transition_that_sends_it_or_not_at_all() {
        RunRef sender = fixture.start("sender");
        fixture.apply(message(sender, "question"));
        Mail answer = message(run, "answer").mail();
        Change.Advance reply = new Change.Advance(
                sender,
                1,
                List.of(step(1), step(2)),
                List.of(new Effect.Take(1), new Effect.Deliver(run.id(), answer)),
                StoreFixture.STAY);
        assertThat(fixture.apply(reply)).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(reply)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(unread(run)).containsExactly(answer);
        assertThat(unread(sender)).isEmpty();
        assertThat(store.journals().read(sender, 0, 1_000_000).entries()).hasSize(2);
    }

    @Test
    void is_not_sent_by_a_worker_that_is_taken_for_dead() {
        RunRef sender = fixture.start("sender");
        Change.Advance transition = new Change.Advance(
                sender,
                1,
                List.of(step(1)),
                List.of(new Effect.Deliver(run.id(), message(run, "news").mail())),
                StoreFixture.STAY);
        TestServer.execute("DELETE FROM %s.lane".formatted(store.schema().name()));
        assertThat(fixture.apply(transition)).isInstanceOf(Outcome.Fenced.class);
        assertThat(fixture.apply(message(run, "news"))).isInstanceOf(Outcome.Fenced.class);
        assertThat(unread(run)).isEmpty();
        assertThat(store.journals().read(sender, 0, 1_000_000).entries()).isEmpty();
    }

    /** The second waits for the row that the first has locked, and meets it in the index of tokens. */
    @Test
    void arrives_once_although_it_is_sent_twice_at_the_same_time() throws Exception {
        int rounds = 50;
        CyclicBarrier together = new CyclicBarrier(2);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < rounds; round++) {
                Change.Deliver delivery = message(run, "news");
                List<Future<Outcome>> sent = new ArrayList<>();
                for (int lane = 0; lane < 2; lane++) {
                    Lane mine = new Lane(fixture.worker, lane);
                    Callable<Outcome> sending = () -> {
                        together.await();
                        return store.ledger().apply(mine, List.of(delivery)).getFirst();
                    };
                    sent.add(threads.submit(sending));
                }
                List<Outcome> outcomes = new ArrayList<>();
                for (Future<Outcome> each : sent) {
                    outcomes.add(each.get());
                }
                assertThat(outcomes).hasAtLeastOneElementOfType(Outcome.Applied.class);
                assertThat(outcomes).hasAtLeastOneElementOfType(Outcome.AlreadyThere.class);
            }
        }
        assertThat(unread(run)).hasSize(rounds);
        assertThat(fixture.apply(StoreFixture.await(run, Channel.message("news"))))
                .isInstanceOfSatisfying(
                        Outcome.Woken.class,
                        woken -> assertThat(woken.control().mails()).isEqualTo(rounds));
    }
}
