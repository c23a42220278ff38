package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** Workers whose process has died, as other workers see it before the lease ends. All leases here are long. */
final class BackendsIT {
    private static final Duration SETTLED = Duration.ofSeconds(3);
    private static final Definition<String, String> ENDS =
            Definition.of("ends", String.class, String.class, (ctx, input) -> input);

    private PostgresStore store;
    private String schema;

    /** A store without threads of its own: the tests say when it registers and looks. */
    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(getClass());
        store = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open();
    }

    @AfterEach
    void close() {
        store.close();
    }

    /** The listening connection of one process, with one worker. */
    private final class Listener implements AutoCloseable {
        private final AtomicLong now = new AtomicLong();
        private final Backends backends = new Backends(new Schema(schema), now::get);
        private final StoreFixture fixture = new StoreFixture(store);
        private final String worker = column("number");
        private final Connection connection;

        Listener() throws SQLException {
            this(TestServer.plain().getConnection());
        }

        Listener(Connection connection) throws SQLException {
            this.connection = connection;
            backends.connected();
            backends.joined(Integer.parseInt(worker));
            assertThat(attend().asked()).as("registers").isTrue();
        }

        String column(String expression) {
            return TestServer.query(
                    "SELECT %s FROM %s.worker WHERE id = '%s'".formatted(expression, schema, fixture.worker));
        }

        void set(String assignments) {
            TestServer.execute(
                    "UPDATE %s.worker SET %s WHERE id = '%s'".formatted(schema, assignments, fixture.worker));
        }

        private Backends.Attended attend() throws SQLException {
            return backends.attend(
                    connection, connection.unwrap(PGConnection.class).getBackendPID());
        }

        /** Looks after the others, some time later. Returns whether a lease has ended. */
        boolean look() throws SQLException {
            now.addAndGet(SETTLED.toNanos() * 2);
            Backends.Attended attended = attend();
            assertThat(attended.asked()).as("it looks").isTrue();
            return attended.doubt();
        }

        /** As the end of a process does, all of whose threads are stopped. */
        void die() throws SQLException {
            int backend = connection.unwrap(PGConnection.class).getBackendPID();
            connection.close();
            await().until(() -> TestServer.query("SELECT count(*) FROM pg_stat_activity WHERE pid = " + backend)
                    .equals("0"));
        }

        void missesForLong() {
            assertThat(column("missing_since IS NOT NULL")).as("noted").isEqualTo("t");
            set("missing_since = clock_timestamp() - interval '500 ms'");
        }

        boolean livesOn() {
            return store.leases().sweep(10).isEmpty()
                    && column("NOT dead AND expires_at > clock_timestamp()").equals("t");
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    @Test
    void a_worker_whose_backend_is_gone_loses_its_lease_after_the_grace_and_all_its_traces() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            RunRef run = victim.fixture.start("a");
            assertThat(watcher.look()).isFalse();
            assertThat(victim.column("missing_since IS NULL")).as("it is there").isEqualTo("t");

            victim.die();
            assertThat(watcher.look()).as("notes it").isFalse();
            assertThat(victim.livesOn()).as("within the grace").isTrue();
            assertThat(endsTheLeaseAtOnce(watcher, victim)).isFalse();
            victim.missesForLong();
            assertThat(watcher.look()).as("ends the lease").isTrue();

            assertThat(store.leases().sweep(10)).extracting(RunChange::state).containsExactly(RunState.READY);
            assertThat(victim.fixture.apply(StoreFixture.append(run, 1))).isInstanceOf(Outcome.Fenced.class);
            assertThat(store.leases().renew(victim.fixture.worker, Heap.now())).isNull();
            assertThat(watcher.livesOn()).isTrue();
        }
    }

    /** Whether a look ends the lease of a worker that has just been missed, on a machine of any speed. */
    private static boolean endsTheLeaseAtOnce(Listener watcher, Listener victim) throws SQLException {
        for (int i = 0; i < 10; i++) {
            victim.set("missing_since = clock_timestamp(), expires_at = clock_timestamp() + lease");
            if (!watcher.look()) {
                return false;
            }
        }
        return true;
    }

    @Test
    void a_worker_that_registers_again_keeps_its_lease_even_if_it_was_about_to_lose_it() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.die();
            watcher.look();
            victim.missesForLong();
            assertThat(watcher.look()).isTrue();
            try (Connection again = TestServer.plain().getConnection()) {
                victim.backends.connected();
                Backends.Attended attended = victim.backends.attend(
                        again, again.unwrap(PGConnection.class).getBackendPID());
                assertThat(attended).isEqualTo(new Backends.Attended(true, true, false));
                assertThat(victim.livesOn()).isTrue();
                assertThat(watcher.look()).isFalse();
                assertThat(victim.column("missing_since IS NULL")).isEqualTo("t");
            }
        }
    }

    @Test
    void a_worker_that_is_dead_when_it_registers_again_is_told_so() throws Exception {
        try (Listener victim = new Listener()) {
            store.leases().leave(victim.fixture.worker);
            victim.backends.connected();
            assertThat(victim.attend()).isEqualTo(new Backends.Attended(true, true, true));
            assertThat(victim.attend().asked()).as("it has no worker any more").isFalse();
        }
    }

    @Test
    void a_late_registration_does_not_prolong_the_lease_of_a_worker_whose_process_has_joined_anew() throws Exception {
        try (Listener victim = new Listener()) {
            victim.set("missing_since = clock_timestamp()");
            store.leases()
                    .join(new Leases.Joining(
                            new WorkerId(UUID.randomUUID()),
                            Set.of(),
                            null,
                            Duration.ofSeconds(10),
                            1,
                            Set.of(victim.fixture.worker)));
            victim.backends.connected();
            assertThat(victim.attend().doubt()).as("others look after its runs").isTrue();
            assertThat(victim.column("expires_at <= clock_timestamp()")).isEqualTo("t");
        }
    }

    @Test
    void a_renewal_proves_that_the_worker_lives() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.die();
            watcher.look();
            victim.missesForLong();
            assertThat(store.leases().renew(victim.fixture.worker, Heap.now())).isNotNull();
            assertThat(watcher.look()).as("the grace begins anew").isFalse();
            assertThat(victim.livesOn()).isTrue();
        }
    }

    @Test
    void a_process_that_has_just_connected_ends_no_lease() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.die();
            watcher.look();
            victim.missesForLong();
            watcher.backends.connected();
            assertThat(watcher.attend()).as("registers again").isEqualTo(new Backends.Attended(true, true, false));
            assertThat(watcher.attend()).as("looks").isEqualTo(new Backends.Attended(true, false, false));
            assertThat(victim.livesOn()).isTrue();
        }
    }

    @Test
    void a_backend_whose_pid_belongs_to_another_one_now_is_gone() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.set("backend_start = backend_start - interval '1 hour'");
            watcher.look();
            victim.missesForLong();
            assertThat(watcher.look()).isTrue();
        }
    }

    @Test
    void the_lease_decides_after_a_restart_of_the_server() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.die();
            victim.set("server_start = server_start - interval '1 second'");
            assertThat(watcher.look()).isFalse();
            assertThat(victim.column("missing_since IS NULL")).isEqualTo("t");
        }
    }

    @Test
    void the_lease_decides_behind_a_pooler_whose_backends_are_not_those_of_clients() throws Exception {
        try (Listener pooled = new Listener()) {
            pooled.backends.connected();
            int other = pooled.connection.unwrap(PGConnection.class).getBackendPID() + 1;
            assertThat(pooled.backends.attend(pooled.connection, other).asked()).isTrue();
            assertThat(pooled.column("backend IS NULL AND missing_since IS NULL"))
                    .isEqualTo("t");
            pooled.now.addAndGet(SETTLED.toNanos() * 2);
            assertThat(pooled.backends.attend(pooled.connection, other).asked())
                    .as("it does not look after others either")
                    .isFalse();
        }
    }

    @Test
    void the_lease_decides_where_a_role_does_not_see_when_backends_began() throws Exception {
        String role = "sees_little_" + schema;
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'x'".formatted(role));
        TestServer.execute(PostgresStore.grants(schema, role, role));
        try (Listener stranger = new Listener(TestServer.plain(role, "x").getConnection());
                Listener friend = new Listener(TestServer.plain(role, "x").getConnection());
                Listener victim = new Listener()) {
            victim.die();
            friend.die();
            stranger.look();
            assertThat(victim.column("missing_since IS NULL"))
                    .as("of another role")
                    .isEqualTo("t");
            assertThat(friend.column("missing_since IS NOT NULL"))
                    .as("of its own role")
                    .isEqualTo("t");
        }
    }

    @Test
    void a_role_without_rights_on_the_table_neither_registers_nor_stops_listening() throws Exception {
        String role = "listens_only_" + schema;
        TestServer.execute("CREATE ROLE %s LOGIN PASSWORD 'x'".formatted(role));
        try (Listener poor = new Listener(TestServer.plain(role, "x").getConnection())) {
            assertThat(poor.column("backend IS NULL")).isEqualTo("t");
            assertThat(poor.attend().asked())
                    .as("it does not ask again at once")
                    .isFalse();
        }
    }

    @Test
    void the_lease_decides_after_a_late_copy_of_an_earlier_registration() throws Exception {
        try (Listener victim = new Listener()) {
            victim.set("backend = 1");
            victim.backends.connected();
            assertThat(victim.attend().doubt()).as("it lives").isFalse();
            assertThat(victim.column("backend IS NULL")).isEqualTo("t");
        }
    }

    @Test
    void a_connection_of_a_pool_may_be_older_than_the_one_that_was_lost() throws Exception {
        try (Connection older = TestServer.plain().getConnection();
                Listener victim = new Listener()) {
            victim.die();
            victim.backends.disconnected();
            victim.backends.connected();
            int backend = older.unwrap(PGConnection.class).getBackendPID();
            assertThat(victim.backends.attend(older, backend).registered()).isTrue();
            assertThat(victim.column("backend")).isEqualTo(String.valueOf(backend));
        }
    }

    @Test
    void a_look_that_finds_nothing_new_writes_nothing() throws Exception {
        try (Listener watcher = new Listener();
                Listener victim = new Listener()) {
            victim.die();
            watcher.look();
            String before = TestServer.query("SELECT xmin FROM %s.worker ORDER BY number".formatted(schema));
            watcher.look();
            assertThat(TestServer.query("SELECT xmin FROM %s.worker ORDER BY number".formatted(schema)))
                    .isEqualTo(before);
        }
    }

    // ---- with the threads of real stores

    private String listening() {
        return TestServer.query("SELECT backend FROM %s.worker WHERE NOT dead AND backend IS NOT NULL ORDER BY number"
                .formatted(schema));
    }

    @Test
    void a_listening_connection_that_is_closed_again_and_again_costs_no_run() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        Definition<String, String> waits = Definition.of(
                "waits",
                String.class,
                String.class,
                (ctx, input) -> ctx.step("wait", () -> {
                    bodies.incrementAndGet();
                    end.await();
                    return input;
                }));
        try (PostgresStore one =
                        PostgresStore.on(TestServer.plain()).schema(schema).open();
                Perdure here = Perdure.on(one).register(waits).start();
                PostgresStore two =
                        PostgresStore.on(TestServer.plain()).schema(schema).open();
                Perdure there = Perdure.on(two).register(waits).start()) {
            Run<String> first = here.start(Invocation.of(waits, "a"), StartOptions.id("a"));
            Run<String> second = there.start(Invocation.of(waits, "b"), StartOptions.id("b"));
            await().until(() -> bodies.get() == 2 && listening().lines().count() == 2);
            String workers = workers();
            for (int i = 0; i < 10; i++) {
                String before = listening();
                TestServer.execute("SELECT pg_terminate_backend(%s)"
                        .formatted(before.lines().toList().get(i % 2)));
                await().pollInterval(Duration.ofMillis(5)).until(() -> {
                    String now = listening();
                    return !now.equals(before) && now.lines().count() == 2;
                });
            }
            assertThat(workers()).as("no worker had to join again").isEqualTo(workers);
            end.countDown();
            assertThat(first.result()).isEqualTo("a");
            assertThat(second.result()).isEqualTo("b");
            assertThat(bodies).hasValue(2);
        }
    }

    private String workers() {
        return TestServer.query(
                "SELECT id FROM %s.worker WHERE NOT dead AND definitions <> '{}' ORDER BY number".formatted(schema));
    }

    /** A source that can be told to refuse, at once or when the server has carried out the next registration. */
    private static final class RefusingSource extends PGSimpleDataSource {
        private static final long serialVersionUID = 1;
        private final AtomicBoolean refuses = new AtomicBoolean();
        private final AtomicBoolean losesAnswer = new AtomicBoolean();

        RefusingSource() {
            PGSimpleDataSource plain = TestServer.plain();
            setUrl(plain.getUrl());
            setUser(plain.getUser());
            setPassword(plain.getPassword());
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (refuses.get()) {
                throw new SQLException("no more connections", "53300");
            }
            Connection connection = super.getConnection();
            return losesAnswer.get() ? losing(Connection.class, connection) : connection;
        }

        private <T> T losing(Class<T> type, T real) {
            return type.cast(Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                        Object answer = method.invoke(real, arguments);
                        if (type == PreparedStatement.class && method.getName().startsWith("execute")) {
                            refuses.set(true);
                            throw new SQLException("The answer is lost.", "08006");
                        }
                        return method.getName().equals("prepareStatement")
                                ? losing(PreparedStatement.class, (PreparedStatement) answer)
                                : answer;
                    }));
        }
    }

    @Test
    void a_worker_that_cannot_listen_any_more_withdraws_its_backend_and_lives_on() {
        RefusingSource source = new RefusingSource();
        try (PostgresStore one = PostgresStore.on(TestServer.plain())
                        .schema(schema)
                        .listenOn(source)
                        .open();
                Perdure here = Perdure.on(one).register(ENDS).start()) {
            await().until(() -> listening().lines().count() == 1);
            String workers = workers();
            source.refuses.set(true);
            TestServer.execute("SELECT pg_terminate_backend(%s)".formatted(listening()));
            await().until(() -> listening().isEmpty());
            source.refuses.set(false);
            await().until(() -> listening().lines().count() == 1);
            assertThat(workers()).isEqualTo(workers);
            assertThat(here.start(Invocation.of(ENDS, "x")).result()).isEqualTo("x");
        }
    }

    @Test
    void a_worker_withdraws_a_backend_also_if_it_does_not_know_whether_it_was_registered() {
        RefusingSource source = new RefusingSource();
        source.losesAnswer.set(true);
        try (PostgresStore one = PostgresStore.on(TestServer.plain())
                        .schema(schema)
                        .listenOn(source)
                        .open();
                Perdure here = Perdure.on(one).register(ENDS).start()) {
            await().until(source.refuses::get);
            assertThat(TestServer.query("SELECT server_start IS NOT NULL FROM %s.worker WHERE definitions <> '{}'"
                            .formatted(schema)))
                    .as("the server has carried it out")
                    .isEqualTo("t");
            await().until(() -> listening().isEmpty());
            assertThat(here.start(Invocation.of(ENDS, "x")).result()).isEqualTo("x");
        }
    }

    @Test
    void a_registration_does_not_wait_for_long_for_a_row_that_is_locked() throws Exception {
        try (Listener listener = new Listener();
                Connection locking = TestServer.plain().getConnection()) {
            locking.setAutoCommit(false);
            try (Statement statement = locking.createStatement()) {
                statement.execute("UPDATE %s.worker SET lease = lease WHERE id = '%s'"
                        .formatted(schema, listener.fixture.worker));
            }
            listener.backends.joined(Integer.parseInt(listener.worker));
            Backends.Attended refused = listener.attend();
            assertThat(refused.asked()).isTrue();
            assertThat(refused.registered()).isFalse();
            assertThat(refused.doubt()).as("the worker is not taken for dead").isFalse();
            locking.rollback();
            listener.now.addAndGet(SETTLED.toNanos() * 2);
            assertThat(listener.attend().registered()).as("a later try").isTrue();
        }
    }

    /** A pool of one connection that cannot be unwrapped, so that listening fails. */
    private static final class OpaquePool extends PGSimpleDataSource {
        private static final long serialVersionUID = 1;
        private final AtomicInteger returned = new AtomicInteger();
        private final transient Connection only;

        OpaquePool() throws SQLException {
            only = TestServer.plain().getConnection();
        }

        @Override
        public Connection getConnection() {
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                        switch (method.getName()) {
                            case "unwrap" -> throw new SQLFeatureNotSupportedException("not a wrapper", "0A000");
                            case "close" -> {
                                returned.incrementAndGet();
                                return null;
                            }
                            default -> {
                                return method.invoke(only, arguments);
                            }
                        }
                    });
        }
    }

    @Test
    void a_connection_that_cannot_listen_goes_back_to_its_pool_as_it_came() throws Exception {
        OpaquePool pool = new OpaquePool();
        int before = pool.only.getNetworkTimeout();
        PostgresStore one = PostgresStore.on(TestServer.plain())
                .schema(schema)
                .listenOn(pool)
                .open();
        try {
            await().until(() -> pool.returned.get() > 0);
        } finally {
            one.close();
        }
        assertThat(pool.only.getNetworkTimeout()).isEqualTo(before);
        try (Statement statement = pool.only.createStatement();
                ResultSet channels = statement.executeQuery("SELECT pg_listening_channels()")) {
            assertThat(channels.next()).as("it listens").isFalse();
        } finally {
            pool.only.close();
        }
    }
}
