package dev.perdure.postgres;

import static dev.perdure.transaction.TransactionOptions.isolation;
import static dev.perdure.transaction.TransactionOptions.readOnly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.error.RunFailedException;
import dev.perdure.spi.Store;
import dev.perdure.testing.conformance.TaskConformance;
import dev.perdure.transaction.TransactionOptions.Isolation;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;

/**
 * With a driver that puts a savepoint before statements of a transaction ({@code autosave} in its URL), so that rows have
 * the number of a part of their transaction.
 */
final class AutosaveIT {
    private static final String SCHEMA = TestServer.newSchema();

    private static HikariDataSource always;
    private static HikariDataSource conservative;

    @BeforeAll
    static void open() {
        always = pool(AutoSave.ALWAYS);
        conservative = pool(AutoSave.CONSERVATIVE);
        PostgresStore.on(always).schema(SCHEMA).notifications(false).open().close();
        TestServer.execute("CREATE TABLE %s.account (balance int)".formatted(SCHEMA));
    }

    @AfterAll
    static void close() {
        always.close();
        conservative.close();
    }

    private static HikariDataSource pool(AutoSave mode) {
        PGSimpleDataSource source = TestServer.plain();
        source.setAutosave(mode);
        return TestServer.pool(source, 7);
    }

    private static PostgresStore freshStore(HikariDataSource pool, Supplier<Instant> time) {
        TestServer.empty(SCHEMA);
        return PostgresStore.on(pool)
                .schema(SCHEMA)
                .notifications(false)
                .time(time)
                .open();
    }

    @Nested
    final class TasksWithSavepointsAlways extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(always, time);
        }
    }

    @Nested
    final class TasksWithSavepointsWherePlansMayBeStale extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(conservative, time);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = AutoSave.class,
            names = {"ALWAYS", "CONSERVATIVE"})
    void transaction_steps_have_the_isolation_they_ask_for_and_read_only_ones_cannot_write(AutoSave mode) {
        try (HikariDataSource application = pool(mode);
                PostgresStore store = PostgresStore.on(application)
                        .schema(SCHEMA)
                        .notifications(false)
                        .open()) {
            PostgresTransactions accounts = PostgresTransactions.on(store, application);
            Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
                List<String> seen = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    seen.add(ctx.transaction(
                            "serializable",
                            accounts,
                            connection -> query(
                                    connection,
                                    "INSERT INTO %s.account VALUES (1) RETURNING current_setting('transaction_isolation')"
                                            .formatted(SCHEMA)),
                            isolation(Isolation.SERIALIZABLE)));
                }
                return String.join(" ", seen);
            });
            Definition<String, String> writer = Definition.of("writer", String.class, String.class, (ctx, in) -> {
                for (int i = 0; i < 3; i++) {
                    ctx.transaction("read", accounts, connection -> query(connection, "SELECT 1"), readOnly());
                }
                return ctx.transaction(
                        "write",
                        accounts,
                        connection -> query(
                                connection, "INSERT INTO %s.account VALUES (1) RETURNING balance".formatted(SCHEMA)),
                        readOnly().retry(RetryPolicy.none()));
            });
            try (Perdure perdure = Perdure.on(store).register(flow, writer).start()) {
                assertThat(perdure.start(flow, "x").result(Duration.ofSeconds(10)))
                        .isEqualTo("serializable serializable serializable");
                assertThatThrownBy(() -> perdure.start(writer, "x").result(Duration.ofSeconds(10)))
                        .isInstanceOf(RunFailedException.class)
                        .hasMessageContaining("read-only transaction");
            }
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
