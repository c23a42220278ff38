package dev.perdure.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.server.Server;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks the measured cost of loads whose cost is known. */
final class MeterIT {
    private static final int COUNT = 1_000;
    private static final String PAYLOAD = "x".repeat(100);
    /** The cost of the server's own processes, such as those that analyse tables. */
    private static final int BACKGROUND = 10;

    private static final String WORK = "SELECT sum(n) FROM generate_series(1, 1000000) AS n";

    private static Server server;
    private static BenchDatabase database;

    private Meter meter;
    private HikariDataSource pool;
    private Connection connection;

    @BeforeAll
    static void startServer() throws SQLException {
        server = Server.embedded();
        database = server.fresh("meter");
        database.execute("CREATE TABLE load (id bigint GENERATED ALWAYS AS IDENTITY, payload text NOT NULL)");
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() throws Exception {
        meter = Meter.on(database);
        pool = database.pool(1);
        connection = pool.getConnection();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        pool.close();
        meter.close();
    }

    @Test
    void inserts_cost_a_commit_a_round_trip_and_their_rows_in_wal_each() throws Exception {
        Cost cost = meter.measure(() -> inserts(COUNT)).cost();
        assertThat(cost.commits()).isBetween(COUNT * 1.0, COUNT * 1.0 + BACKGROUND);
        assertThat(cost.roundTrips()).isEqualTo(COUNT);
        assertThat(cost.wal()).isGreaterThan(COUNT * PAYLOAD.length());
        assertThat(cost.per(COUNT).roundTrips()).isEqualTo(1);
        assertThat(cost.process()).isGreaterThan(0);
        if (serverIsVisible()) {
            assertThat(cost.server()).isGreaterThan(0);
        }
    }

    @Test
    void inserts_in_one_transaction_cost_one_commit() throws Exception {
        connection.setAutoCommit(false);
        Cost cost = meter.measure(() -> {
                    inserts(COUNT);
                    connection.commit();
                    return COUNT;
                })
                .cost();
        assertThat(cost.commits()).isBetween(1.0, 1.0 + BACKGROUND);
        assertThat(cost.roundTrips()).isEqualTo(COUNT + 1);
    }

    @Test
    void statements_that_are_sent_together_cost_one_round_trip() throws Exception {
        Cost cost = meter.measure(() -> {
                    try (PreparedStatement insert =
                            connection.prepareStatement("INSERT INTO load (payload) VALUES (?)")) {
                        for (int i = 0; i < 100; i++) {
                            insert.setString(1, PAYLOAD);
                            insert.addBatch();
                        }
                        return insert.executeBatch().length;
                    }
                })
                .cost();
        assertThat(cost.roundTrips()).isEqualTo(1);
    }

    @Test
    void reads_cost_round_trips_and_no_commits() throws Exception {
        Cost cost = meter.measure(() -> {
                    for (int i = 0; i < COUNT; i++) {
                        query(connection, "SELECT count(*) FROM load");
                    }
                    return COUNT;
                })
                .cost();
        assertThat(cost.commits()).isLessThan(BACKGROUND);
        assertThat(cost.roundTrips()).isEqualTo(COUNT);
    }

    @Test
    void another_process_is_counted_if_the_meter_has_it() throws Exception {
        try (ChildProcess other = ChildProcess.with(InserterMain.class, database)) {
            other.ask("1");
            Cost cost = meter.with(other).measure(() -> other.ask("200")).cost();
            assertThat(cost.commits()).isBetween(200.0, 200.0 + BACKGROUND);
            assertThat(cost.roundTrips()).isEqualTo(200);
            assertThat(meter.measure(() -> other.ask("200")).cost().roundTrips())
                    .isZero();
        }
    }

    @Test
    void processor_time_of_a_connection_that_is_closed_meanwhile_is_counted() throws Exception {
        assumeTrue(serverIsVisible());
        double working = meter.measure(() -> query(connection, WORK)).cost().server();
        Cost cost = meter.measure(() -> {
                    try (Connection other = database.connect()) {
                        query(other, WORK);
                        return terminate(other);
                    }
                })
                .cost();
        assertThat(cost.server()).isGreaterThan(working / 2);
    }

    @Test
    void what_observers_do_is_not_counted() throws Exception {
        try (Observer observer = new Observer(database)) {
            observer.number("SELECT 1");
            Cost seen = meter.measure(() -> observer.number(WORK)).cost();
            Cost done = meter.measure(() -> query(connection, WORK)).cost();
            assertThat(seen.roundTrips()).isZero();
            assertThat(seen.commits()).isLessThan(BACKGROUND);
            if (serverIsVisible()) {
                assertThat(seen.server()).isLessThan(done.server() / 2);
            }
        }
    }

    @Test
    void a_load_counts_also_what_was_not_done_within_its_time() throws Exception {
        Metered<Load> load = meter.measure(() -> Load.of(1, Duration.ofMillis(200), () -> inserts(1)));
        assertThat(load.result().operations()).isEqualTo((long) load.cost().roundTrips());
    }

    /** Waits until the server's process for this connection has ended. */
    private boolean terminate(Connection other) throws SQLException {
        String pid = query(other, "SELECT pg_backend_pid()");
        return query(connection, "SELECT pg_terminate_backend(%s, 10000)".formatted(pid))
                .equals("t");
    }

    private int inserts(int count) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO load (payload) VALUES (?)")) {
            for (int i = 0; i < count; i++) {
                insert.setString(1, PAYLOAD);
                insert.execute();
            }
        }
        return count;
    }

    private static String query(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private static boolean serverIsVisible() {
        return Files.isReadable(Path.of("/proc/self/stat"));
    }
}
