package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.json;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The order of what one transaction of a caller puts into the inbox, however many workers read it. */
final class OutboxOrderIT {
    private static final Channel NEWS = Channel.message("news");

    private final Schema schema = new Schema(TestServer.schemaOf(OutboxOrderIT.class));
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;
    private Database database;

    @BeforeEach
    void open() throws SQLException {
        pool = TestServer.pool(8);
        store = PostgresStore.on(pool)
                .schema(schema.name())
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        database = new Database(Connections.from(pool, 3), () -> null);
    }

    @AfterEach
    void close() {
        database.close();
        store.close();
        pool.close();
    }

    /** A worker that reads the inbox; what it does before each batch is up to the test. */
    private InboxReader worker(Runnable before) {
        Ledger ledger = (lane, changes) -> {
            before.run();
            return store.ledger().apply(lane, changes);
        };
        return new InboxReader(database, schema, ledger);
    }

    private InboxReader worker() {
        return worker(() -> {});
    }

    private void put(List<Change> changes) throws Exception {
        try (Connection caller = TestServer.plain().getConnection()) {
            caller.setAutoCommit(false);
            PostgresOutbox.on(store).notifications(false).in(caller).put(changes);
            caller.commit();
        }
    }

    private static Change message(RunId to, int number) {
        return new Change.Deliver(to, Mail.value(NEWS, UUID.randomUUID(), json(String.valueOf(number))));
    }

    private static List<Change> messages(RunId to, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> message(to, i)).toList();
    }

    private List<Integer> arrived(RunRef run) {
        return store.mailboxes().unread(run, 0, 1_000_000).stream()
                .map(arrived -> new String(arrived.mail().payload().bytes(), StandardCharsets.UTF_8))
                .map(Integer::valueOf)
                .toList();
    }

    private static List<Integer> upTo(int count) {
        return IntStream.rangeClosed(1, count).boxed().toList();
    }

    private void letMarksExpire() {
        TestServer.execute("UPDATE %s.inbox SET taken_until = now() - interval '1 second' WHERE taken_until IS NOT NULL"
                .formatted(schema.name()));
    }

    /** Reads until the inbox is empty; marks of workers that have given up expire. */
    private void readAll() {
        for (int i = 0;
                i < 20
                        && !TestServer.query("SELECT count(*) FROM %s.inbox".formatted(schema.name()))
                                .equals("0");
                i++) {
            worker().read();
            letMarksExpire();
        }
    }

    @Test
    void a_transaction_of_many_rows_arrives_in_order_at_two_workers() throws Exception {
        RunRef run = fixture.start("run");
        put(messages(run.id(), 1_000));
        boolean[] first = {true};
        worker(() -> {
                    if (first[0]) { // it has its rows and has applied none; another worker looks now, twice
                        first[0] = false;
                        worker().read();
                        worker().read();
                    }
                })
                .read();
        readAll();
        assertThat(arrived(run)).isEqualTo(upTo(1_000));
    }

    @Test
    void rows_of_other_runs_do_not_wait_for_each_other() throws Exception {
        RunRef slow = fixture.start("slow");
        RunRef quick = fixture.start("quick");
        put(messages(slow.id(), 500));
        put(messages(quick.id(), 3));
        boolean[] first = {true};
        worker(() -> {
                    if (first[0]) {
                        first[0] = false;
                        worker().read();
                        assertThat(arrived(quick)).isEqualTo(upTo(3));
                        assertThat(arrived(slow)).isEmpty();
                    }
                })
                .read();
        assertThat(arrived(slow)).isEqualTo(upTo(500));
    }

    @Test
    void a_worker_that_gives_up_in_the_middle_breaks_no_order() throws Exception {
        RunRef run = fixture.start("run");
        put(messages(run.id(), 600));
        int[] batches = {0};
        worker(() -> {
                    if (++batches[0] == 2) {
                        throw new StoreException(StoreException.Kind.UNAVAILABLE, "The database is away.", null);
                    }
                })
                .read();
        worker().read(); // the first 500 are still marked, and one of them has arrived
        readAll();
        assertThat(arrived(run)).isEqualTo(upTo(600));
    }

    @Test
    void a_worker_that_comes_back_after_its_marks_have_expired_breaks_no_order() throws Exception {
        RunRef run = fixture.start("run");
        put(messages(run.id(), 600));
        int[] batches = {0};
        worker(() -> {
                    if (++batches[0] == 2) {
                        letMarksExpire();
                        readAll();
                    }
                })
                .read();
        readAll();
        assertThat(arrived(run)).isEqualTo(upTo(600));
    }

    @Test
    void a_run_that_appears_between_two_messages_gets_the_first_one_first() throws Exception {
        RunId late = RunId.of("late");
        put(messages(late, 3));
        int[] batches = {0};
        RunRef[] started = {null};
        worker(() -> {
                    if (++batches[0] == 2) { // the first message has found no run
                        started[0] = ((Outcome.Started) fixture.apply(new Change.Start(newRun("late"), fixture.worker)))
                                .run();
                    }
                })
                .read();
        if (started[0] == null) {
            started[0] = ((Outcome.Started) fixture.apply(new Change.Start(newRun("late"), fixture.worker))).run();
        }
        readAll();
        assertThat(arrived(started[0])).isEqualTo(upTo(3));
    }

    @Test
    void a_message_does_not_overtake_one_whose_partition_was_closed() throws Exception {
        RunRef run = fixture.start("run");
        put(messages(run.id(), 3));
        int[] batches = {0};
        Ledger opening = (lane, changes) -> ++batches[0] == 1
                ? List.of(new Outcome.Moving())
                : store.ledger().apply(lane, changes);
        new InboxReader(database, schema, opening).read();
        letMarksExpire();
        readAll();
        assertThat(arrived(run)).isEqualTo(upTo(3));
    }

    @Test
    void a_start_does_not_wait_for_a_message_that_was_put_in_before_it() throws Exception {
        RunId late = RunId.of("late");
        put(List.of(message(late, 1), new Change.Start(newRun("late"), null), message(late, 2)));
        worker().read();
        readAll();
        RunRef run = store.runs().find(late).orElseThrow().ref();
        assertThat(arrived(run)).isEqualTo(upTo(2));
    }
}
