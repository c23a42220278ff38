package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.version.VersionInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs of pinned definitions that callers start in transactions of their own and from SQL. */
final class VersionIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Definition<String, String> PARCEL = Definition.of(
                    "parcel", String.class, String.class, (ctx, in) -> {
                        ctx.sleep(Duration.ofHours(1));
                        return in;
                    })
            .pinned();

    private final String schema = TestServer.schemaOf(VersionIT.class);
    private HikariDataSource pool;
    private PostgresStore store;

    @BeforeEach
    void open() {
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).open();
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private Perdure worker(String version) {
        return Perdure.on(store)
                .register(PARCEL)
                .version(version)
                .lease(Duration.ofSeconds(1))
                .start();
    }

    private void startEverywhere(Perdure perdure, String prefix) throws SQLException {
        try (Connection caller = TestServer.plain().getConnection()) {
            caller.setAutoCommit(false);
            perdure.outbox(PostgresOutbox.on(store).in(caller))
                    .start(Invocation.of(PARCEL, "x"), StartOptions.id(prefix + "-outbox"));
            caller.commit();
        }
        TestServer.execute("SELECT %s.start_run('parcel', '%s-sql', '\"x\"')".formatted(schema, prefix));
        perdure.start(Invocation.of(PARCEL, "x"), StartOptions.id(prefix + "-java"));
    }

    private List<String> pinnedTo(Perdure perdure, String version) {
        return perdure.runs(RunFilter.all().version(version)).list().stream()
                .map(RunInfo::id)
                .map(Object::toString)
                .sorted()
                .toList();
    }

    @Test
    void starts_from_sql_and_outboxes_are_pinned_by_the_worker_that_takes_them() throws Exception {
        try (Perdure one = worker("v1")) {
            startEverywhere(one, "a");
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(pinnedTo(one, "v1")).containsExactly("a-java", "a-outbox", "a-sql"));
            try (Perdure two = worker("v2")) {
                one.versions().drain("v1");
                await().atMost(PATIENCE)
                        .until(() -> store.versions().drains("v1").size() == 1
                                && TestServer.query("SELECT count(*) FROM %s.worker WHERE drains <> '{}' AND NOT dead"
                                                .formatted(schema))
                                        .equals("1"));
                startEverywhere(one, "b");
                await().atMost(PATIENCE)
                        .untilAsserted(
                                () -> assertThat(pinnedTo(two, "v2")).containsExactly("b-java", "b-outbox", "b-sql"));
                assertThat(pinnedTo(one, "v1")).containsExactly("a-java", "a-outbox", "a-sql");
                assertThat(two.versions().get("v1").state()).isEqualTo(VersionInfo.State.DRAINING);
                assertThat(two.versions().get("v1").runs()).isEqualTo(3);
            }
        }
    }

    @Test
    void a_drained_version_is_found_by_an_index_of_live_pinned_runs() {
        String plan =
                TestServer.query("EXPLAIN (FORMAT JSON) SELECT true FROM %s.run r WHERE r.live_version = 'v1' LIMIT 1"
                        .formatted(schema));
        assertThat(plan).contains("run_live_version");
    }
}
