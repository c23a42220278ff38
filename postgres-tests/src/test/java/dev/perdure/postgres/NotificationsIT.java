package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.Notice;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Hints.Hint;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** Hints between processes, losing the database, and what is left behind. */
final class NotificationsIT {
    private static void awaitHint(BlockingQueue<Hint> heard, Hint expected) throws InterruptedException {
        Hint hint = heard.poll(10, TimeUnit.SECONDS);
        while (hint != null && !hint.equals(expected)) {
            hint = heard.poll(10, TimeUnit.SECONDS);
        }
        assertThat(hint).isEqualTo(expected);
    }

    @Test
    void another_store_hears_what_happened_and_is_heard_again_after_the_connection_was_cut() throws Exception {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(8);
                PostgresStore here = PostgresStore.on(pool).schema(schema).open();
                PostgresStore there =
                        PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            BlockingQueue<Hint> heard = new LinkedBlockingQueue<>();
            there.hints().subscribe(heard::add);
            StoreFixture fixture = new StoreFixture(here);
            RunRef run = fixture.start("a");

            here.awaitListening();
            there.awaitListening();
            here.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("b"), null)));
            awaitHint(heard, new Hints.WorkReady());
            BlockingQueue<Hint> heardHere = new LinkedBlockingQueue<>();
            here.hints().subscribe(heardHere::add);
            there.ledger()
                    .apply(Lane.client(0), List.of(new Change.Command(run.id(), Change.CommandKind.CANCEL, "enough")));
            awaitHint(heardHere, new Hints.WorkerSignalled(fixture.worker));
            watch(there, run, here);
            fixture.apply(StoreFixture.complete(run));
            awaitHint(heard, new Hints.RunEnded(run.id()));

            heard.clear();
            TestServer.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%%s'"
                    .formatted(schema));
            awaitHint(heard, new Hints.WorkReady());
        }
    }

    @Test
    void a_notification_is_heard_without_waiting_for_another_and_the_connection_goes_back_as_it_came()
            throws Exception {
        String schema = TestServer.newSchema();
        PGSimpleDataSource source = TestServer.plain();
        source.setSocketFactory(WatchedSocketFactory.class.getName());
        BlockingQueue<Hint> heard = new LinkedBlockingQueue<>();
        try (HikariDataSource pool = TestServer.pool(8);
                HikariDataSource listening = TestServer.pool(source, 1)) {
            try (PostgresStore here = PostgresStore.on(pool).schema(schema).open();
                    PostgresStore there = PostgresStore.on(TestServer.plain())
                            .schema(schema)
                            .listenOn(listening)
                            .open()) {
                there.hints().subscribe(heard::add);
                there.awaitListening();
                WatchedSocketFactory.SHORT_WAITS.set(0);
                for (int i = 0; i < 3; i++) {
                    here.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("a" + i), null)));
                    awaitHint(heard, new Hints.WorkReady());
                }
                assertThat(WatchedSocketFactory.SHORT_WAITS).hasValue(0);
            }
            try (Connection back = listening.getConnection()) {
                back.unwrap(PGConnection.class).getNotifications();
            }
            assertThat(WatchedSocketFactory.SHORT_WAITS).hasValue(1);
        }
    }

    /** Counts how often the driver is about to wait for no more than a millisecond. */
    public static final class WatchedSocketFactory extends SocketFactory {
        static final AtomicInteger SHORT_WAITS = new AtomicInteger();

        @Override
        public Socket createSocket() {
            return new Socket() {
                @Override
                public void setSoTimeout(int millis) throws SocketException {
                    if (millis == 1) {
                        SHORT_WAITS.incrementAndGet();
                    }
                    super.setSoTimeout(millis);
                }
            };
        }

        @Override
        public Socket createSocket(String host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress local, int localPort) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void what_only_a_worker_here_has_to_know_is_not_sent_to_others() throws Exception {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(8);
                PostgresStore here = PostgresStore.on(pool).schema(schema).open();
                PostgresStore there =
                        PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            BlockingQueue<Hint> heard = new LinkedBlockingQueue<>();
            BlockingQueue<Hint> heardHere = new LinkedBlockingQueue<>();
            there.hints().subscribe(heard::add);
            here.hints().subscribe(heardHere::add);
            StoreFixture fixture = new StoreFixture(here);
            RunRef run = fixture.start("a");
            here.awaitListening();
            there.awaitListening();

            Lane client = Lane.client(0);
            here.ledger().apply(client, List.of(StoreFixture.message(run, "news")));
            assertThat(heardHere.poll(10, TimeUnit.SECONDS)).isInstanceOf(Hints.MailArrived.class);
            here.ledger().apply(client, List.of(new Change.Command(run.id(), Change.CommandKind.CANCEL, "enough")));
            assertThat(heardHere.poll(10, TimeUnit.SECONDS)).isEqualTo(new Hints.WorkerSignalled(fixture.worker));
            here.ledger().apply(client, List.of(new Change.Start(StoreFixture.newRun("b"), null)));
            assertThat(heard.poll(10, TimeUnit.SECONDS)).isEqualTo(new Hints.WorkReady());
        }
    }

    /** A source that is not as JDBC wants it, at the first time that the listening thread asks. */
    private static final class ConfusedSource extends PGSimpleDataSource {
        private static final long serialVersionUID = 1;
        private final AtomicBoolean confused = new AtomicBoolean(true);

        @Override
        public Connection getConnection() throws SQLException {
            if (Thread.currentThread().getName().startsWith("perdure-listen-") && confused.getAndSet(false)) {
                throw new IllegalStateException("no pool is configured");
            }
            return super.getConnection();
        }
    }

    @Test
    void a_source_that_fails_in_an_unexpected_way_does_not_end_the_listening() throws Exception {
        ConfusedSource source = new ConfusedSource();
        PGSimpleDataSource plain = TestServer.plain();
        source.setUrl(plain.getUrl());
        source.setUser(plain.getUser());
        source.setPassword(plain.getPassword());
        try (PostgresStore store =
                PostgresStore.on(source).schema(TestServer.newSchema()).open()) {
            store.awaitListening();
        }
        assertThat(source.confused).isFalse();
    }

    /** A caller there waits for the run, and the store here hears that callers wait. */
    private static void watch(PostgresStore there, RunRef run, PostgresStore here) {
        assertThat(there.runs().ended(List.of(run))).isEmpty();
        await().until(() -> ((PostgresHints) here.hints()).waitingCallers().exist());
    }

    @Test
    void other_processes_are_notified_of_an_end_only_while_callers_wait_there() throws Exception {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(8);
                PostgresStore here = PostgresStore.on(pool).schema(schema).open();
                PostgresStore there =
                        PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            BlockingQueue<Hint> heard = new LinkedBlockingQueue<>();
            there.hints().subscribe(heard::add);
            StoreFixture fixture = new StoreFixture(here);
            RunRef unwatched = fixture.start("unwatched");
            RunRef watched = fixture.start("watched");
            here.awaitListening();
            there.awaitListening();

            fixture.apply(StoreFixture.complete(unwatched));
            watch(there, watched, here);
            fixture.apply(StoreFixture.complete(watched));
            assertThat(heard.poll(10, TimeUnit.SECONDS)).isEqualTo(new Hints.RunEnded(watched.id()));
        }
    }

    @Test
    void a_notification_that_the_server_refuses_is_not_the_last() throws Exception {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(8);
                PostgresStore here = PostgresStore.on(pool).schema(schema).open();
                PostgresStore there =
                        PostgresStore.on(TestServer.plain()).schema(schema).open()) {
            BlockingQueue<Hint> heard = new LinkedBlockingQueue<>();
            there.hints().subscribe(heard::add);
            here.awaitListening();
            there.awaitListening();
            PostgresHints hints = (PostgresHints) here.hints();

            hints.notifyOthers("longer than PostgreSQL takes ".repeat(1_000));

            await().until(() -> {
                hints.notifyOthers(Notice.line(new Hints.WorkReady())); // one that is sent along with it is lost, too
                return heard.poll(100, TimeUnit.MILLISECONDS) != null;
            });
        }
    }

    @Test
    void a_store_does_not_hear_itself_twice() {
        List<String> notices = Notice.written("me", List.of(Notice.line(new Hints.WorkReady())));
        assertThat(Notice.read("me", notices.getFirst()).hints()).isEmpty();
        assertThat(Notice.read("you", notices.getFirst()).hints()).containsExactly(new Hints.WorkReady());
    }

    @Test
    void closing_twice_leaves_no_thread_and_no_connection() {
        String schema = TestServer.newSchema();
        PostgresStore store =
                PostgresStore.on(TestServer.plain()).schema(schema).open();
        new StoreFixture(store).start("a");
        store.close();
        store.close();

        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().endsWith(schema));
        // The server learns of a closed connection a moment later.
        await().untilAsserted(() -> assertThat(TestServer.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%%s.%%' AND pid <> pg_backend_pid()"
                                .formatted(schema)))
                .isEqualTo("0"));
    }

    @Test
    void a_source_without_a_pool_opens_few_connections() {
        String schema = TestServer.newSchema();
        try (CountingProxy proxy = new CountingProxy();
                PostgresStore store = PostgresStore.on(proxy.source())
                        .schema(schema)
                        .notifications(false)
                        .open()) {
            StoreFixture fixture = new StoreFixture(store);
            int before = proxy.connections();
            for (int i = 0; i < 50; i++) {
                fixture.start("run-" + i);
            }
            assertThat(proxy.connections() - before).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void a_database_that_goes_away_is_unavailable_at_once_and_works_when_it_is_back() {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(3);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .open()) {
            StoreFixture fixture = new StoreFixture(store);
            RunRef run = fixture.start("a");
            for (int i = 1; i <= 5; i++) {
                TestServer.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
                append(fixture, run, i);
            }
            assertThat(store.journals().read(run, 0, 1_000).entries()).hasSize(5);
        }
    }

    /** As the engine does it: what is unavailable is sent again. */
    private static void append(StoreFixture fixture, RunRef run, int position) {
        while (true) {
            try {
                fixture.apply(StoreFixture.append(run, position));
                return;
            } catch (StoreException e) {
                assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE);
            }
        }
    }

    @Test
    void an_interrupted_caller_loses_neither_its_batch_nor_its_interrupt() {
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                .schema(TestServer.newSchema())
                .notifications(false)
                .open()) {
            StoreFixture fixture = new StoreFixture(store);
            Thread.currentThread().interrupt();
            RunRef run = fixture.start("a");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(store.runs().find(run.id())).isPresent();
        }
    }
}
