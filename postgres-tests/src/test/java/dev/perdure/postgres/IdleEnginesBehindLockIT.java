package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Engines without work, while an operator holds a lock on a table for long, leave room on the server for others. */
@Tag("thorough") // DatabaseIT shows in a second that the server gives up what its callers have given up
final class IdleEnginesBehindLockIT {
    private static final int ENGINES = 3;
    /** Two lanes, two for everything else, one that listens; and one that the server is about to close. */
    private static final int PROCESSES = ENGINES * 6;

    private static final Duration WATCHED = Duration.ofSeconds(35);
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> ctx.step("step", () -> in));

    @Test
    void add_no_server_processes() throws Exception {
        String schema = TestServer.newSchema();
        List<AutoCloseable> opened = new ArrayList<>();
        try (Connection other = TestServer.plain().getConnection();
                Statement statement = other.createStatement()) {
            Perdure last = null;
            for (int i = 0; i < ENGINES; i++) {
                PGSimpleDataSource source = TestServer.plain();
                source.setApplicationName(schema);
                PostgresStore store = PostgresStore.on(source).schema(schema).open();
                opened.addFirst(store);
                last = Perdure.on(store).register(ECHO).start();
                opened.addFirst(last);
            }
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE %s.worker IN ACCESS EXCLUSIVE MODE".formatted(schema));
            await().pollInterval(Duration.ofMillis(500))
                    .during(WATCHED)
                    .atMost(WATCHED.plusSeconds(30))
                    .untilAsserted(() -> assertThat(processes(schema)).isLessThanOrEqualTo(PROCESSES));
            other.rollback();
            assertThat(last.start(Invocation.of(ECHO, "again")).result(Duration.ofSeconds(60)))
                    .isEqualTo("again");
        } finally {
            for (AutoCloseable each : opened) {
                each.close();
            }
        }
    }

    private static int processes(String application) {
        return Integer.parseInt(TestServer.query(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = '%s'".formatted(application)));
    }
}
