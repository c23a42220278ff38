package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.HistoryEvent;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.examples.Reservations.Request;
import dev.perdure.memory.MemoryStore;
import dev.perdure.postgres.OtherDatabase;
import dev.perdure.postgres.PlainTransactions;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The code that the guide on the application's own data quotes. */
class ReservationsIT {
    // region attribute-keys
    static final Attribute<String> CUSTOMER = Attribute.text("customer");
    static final Attribute<Number> SEATS = Attribute.number("seats");
    // endregion

    private static final Request REQUEST = new Request("Ada", 2);
    private static final Reservations.Cashier CASHIER = (request, key) -> "paid by " + request.customer();
    private static final String RESULT = "paid by Ada, 98 seats left";

    private final SharedPostgres.Fresh database = SharedPostgres.database("reservations");
    private HikariDataSource pool;
    private HikariDataSource applicationPool;

    @BeforeEach
    void open() throws SQLException {
        pool = pool(6);
        applicationPool = pool(4);
        execute("CREATE TABLE theatre (seats int)");
        execute("INSERT INTO theatre VALUES (100)");
        execute("CREATE TABLE seat_request (customer text, seats int)");
        execute("CREATE TABLE ticket (customer text, seats int, payment text)");
    }

    private HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(size);
        return new HikariDataSource(config);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int tickets() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM ticket")) {
            row.next();
            return row.getInt(1);
        }
    }

    @AfterEach
    void close() {
        applicationPool.close();
        pool.close();
        database.close();
    }

    @Test
    void seats_are_taken_with_the_record_of_the_step() throws SQLException {
        // region set-up
        try (PostgresStore store = PostgresStore.on(pool).open()) {
            TransactionSource<Connection> theatre = PostgresTransactions.on(store, applicationPool);
            try (Perdure perdure = Perdure.on(store)
                    .register(new Reservations(theatre, CASHIER))
                    .start()) {
                Run<String> run = perdure.start(Reservations::reserve, REQUEST, id("reservation-1"));
                assertThat(run.result()).isEqualTo(RESULT);
            }
        }
        // endregion
        assertThat(tickets()).isEqualTo(1);
    }

    @Test
    void seats_are_given_back_once_if_the_payment_fails() throws SQLException {
        Reservations.Cashier broke = (request, key) -> {
            throw new TerminalException("no money");
        };
        try (PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(PostgresTransactions.on(store, applicationPool), broke))
                        .start()) {
            Run<String> run = perdure.start(Reservations::book, REQUEST, id("booking-1"));
            assertThatThrownBy(run::result).hasMessageContaining("no money");
            assertThat(run.history())
                    .extracting(HistoryEvent::text)
                    .contains("transaction 'give seats back' completed");
        }
        assertThat(seats()).isEqualTo(100);
    }

    private int seats() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT seats FROM theatre")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    void a_run_begins_with_the_callers_commit() throws SQLException {
        try (PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(PostgresTransactions.on(store, applicationPool), CASHIER))
                        .start()) {
            Reservations.order(applicationPool, PostgresOutbox.on(store), perdure, REQUEST);
            assertThat(result(perdure, "reservation-Ada")).isEqualTo(RESULT);
        }
    }

    @Test
    void a_start_after_the_commit_attaches_to_what_the_transaction_started() throws SQLException {
        try (PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(PostgresTransactions.on(store, applicationPool), CASHIER))
                        .start()) {
            // region attach
            Reservations.order(applicationPool, PostgresOutbox.on(store), perdure, REQUEST);
            Run<String> run = perdure.start(Reservations::reserve, REQUEST, id("reservation-Ada")); // attaches
            // endregion
            assertThat(run.result()).isEqualTo(RESULT);
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(1);
        }
        assertThat(tickets()).isEqualTo(1);
    }

    @Test
    void a_run_is_found_by_its_attributes() throws SQLException {
        try (PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(PostgresTransactions.on(store, applicationPool), CASHIER))
                        .start()) {
            // region attributes
            Run<String> run = perdure.start(
                    Reservations::reserve,
                    REQUEST,
                    id("reservation-8")
                            .attribute(CUSTOMER, "Ada")
                            .attribute(SEATS, 2)
                            .memo("Called on Monday"));
            List<RunInfo> found = perdure.runs(
                            RunFilter.all().where(CUSTOMER.is("Ada")).where(SEATS.atLeast(2)))
                    .list();
            assertThat(found).extracting(RunInfo::id).containsExactly(run.id());
            // endregion
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(
                            "SELECT id, state FROM perdure.runs WHERE attributes @> '{\"customer\": \"Ada\"}'")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.getString("id")).isEqualTo("reservation-8");
            }
        }
    }

    @Test
    void plain_sql_begins_a_run() throws SQLException {
        try (PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(PostgresTransactions.on(store, applicationPool), CASHIER))
                        .start()) {
            execute(
                    "SELECT perdure.start_run('reservation', 'reservation-7', '{\"customer\": \"Ada\", \"seats\": 2}')");
            assertThat(result(perdure, "reservation-7")).isEqualTo(RESULT);
        }
    }

    private static String result(Perdure perdure, String id) {
        long limit = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (true) {
            try {
                return perdure.run(RunId.of(id), new TypeRef<String>() {}).result();
            } catch (UnknownRunException notYet) {
                assertThat(System.nanoTime()).isLessThan(limit);
            }
        }
    }

    @Test
    void another_database_remembers_what_was_done_there() throws SQLException {
        // region other
        OtherDatabase theatre = OtherDatabase.on(applicationPool);
        theatre.migrate(); // or let a DBA run OtherDatabase.migration("perdure")
        // endregion
        assertThat(inMemory(theatre)).isEqualTo(RESULT);
        // region forget
        int forgotten = theatre.forget(Duration.ofDays(30));
        // endregion
        assertThat(forgotten).isZero();
        assertThat(tickets()).isEqualTo(1);
    }

    @Test
    void a_test_on_the_in_memory_store_brings_its_own_database() throws SQLException {
        // region test
        TransactionSource<Connection> theatre =
                PlainTransactions.on(applicationPool); // not exactly once: for tests only
        // endregion
        assertThat(inMemory(theatre)).isEqualTo(RESULT);
        assertThat(tickets()).isEqualTo(1);
    }

    private static String inMemory(TransactionSource<Connection> theatre) {
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .register(new Reservations(theatre, CASHIER))
                        .start()) {
            return perdure.start(Reservations::reserve, REQUEST).result();
        }
    }
}
