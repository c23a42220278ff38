package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A person who can write to the database, but has no key. */
final class EncryptedRowsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Topic<String> GO = Topic.of("go", String.class);

    private final String schema = TestServer.schemaOf(EncryptedRowsIT.class);
    private final HikariDataSource pool = TestServer.pool(TestServer.plain(), 8);
    private final PostgresStore store = PostgresStore.on(pool).schema(schema).open();
    private final BlockingQueue<RunChange> changes = new LinkedBlockingQueue<>();
    private final Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, in) -> {
        String charged = ctx.step("charge", () -> "secret " + in);
        return charged + " " + ctx.receive(GO).await();
    });
    private final Perdure perdure = Perdure.on(store)
            .transform(Encryption.with(
                    EncryptionKeys.of("2025", Map.of("2025", new SecretKeySpec(new byte[16], "AES")))))
            .warmWindow(Duration.ZERO)
            .register(order)
            .listener(changes::add)
            .start();

    @AfterEach
    void close() {
        perdure.close();
        store.close();
        pool.close();
    }

    private void await(String run, RunState state) throws InterruptedException {
        RunChange change;
        do {
            change = changes.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(change).as("run '%s' is %s", run, state).isNotNull();
        } while (!change.runId().value().equals(run) || change.state() != state);
    }

    private long plainRows() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery(
                        "SELECT count(*) FROM %s.journal WHERE position('secret'::bytea IN payload) > 0"
                                .formatted(schema))) {
            count.next();
            return count.getLong(1);
        }
    }

    @Test
    void a_result_that_is_copied_to_another_run_pauses_that_run_and_no_row_shows_it() throws Exception {
        Run<String> first = perdure.start(Invocation.of(order, "a"), id("a"));
        await("a", RunState.SUSPENDED);
        Run<String> second = perdure.start(Invocation.of(order, "b"), id("b"));
        await("b", RunState.SUSPENDED);
        assertThat(plainRows()).isZero();
        TestServer.execute("""
                UPDATE %1$s.journal SET payload = other.payload
                FROM %1$s.journal other, %1$s.run a, %1$s.run b
                WHERE a.id = 'a' AND other.key = a.key AND other.position = 1 AND other.note = 0
                  AND b.id = 'b' AND journal.key = b.key AND journal.position = 1 AND journal.note = 0
                """.formatted(schema));

        second.send(GO, "now");
        await("b", RunState.PAUSED);
        assertThat(second.info().reason().orElseThrow())
                .contains("recorded at position 1 for step 'charge' cannot be read back. "
                        + "The value found as position 1 of run 'b' was encrypted for another place.");
        first.send(GO, "now");
        assertThat(first.result(PATIENCE)).isEqualTo("secret a now");

        TestServer.execute("SELECT %s.start_run('order', 'c', '\"c\"')".formatted(schema));
        await("c", RunState.SUSPENDED);
        Run<String> third = perdure.run(RunId.of("c"), TypeRef.of(String.class));
        third.send(GO, "now");
        assertThat(third.result(PATIENCE)).as("SQL has written its input").isEqualTo("secret c now");
        assertThat(plainRows()).isZero();
    }
}
