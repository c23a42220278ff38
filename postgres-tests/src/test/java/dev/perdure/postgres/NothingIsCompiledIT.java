package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.error.RunFailedException;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A server that compiles statements (JIT) compiles none of ours: it would take a second for one of a millisecond. The
 * server from the jar cannot compile.
 */
final class NothingIsCompiledIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SCHEMA = TestServer.newSchema();

    private static HikariDataSource pool;

    @BeforeAll
    static void openPool() {
        pool = TestServer.pool(InstalledPostgres.plain(), 5);
    }

    @AfterAll
    static void closePool() {
        if (pool != null) {
            pool.close();
        }
    }

    @BeforeEach
    void forget() {
        InstalledPostgres.forgetStatements();
    }

    @Test
    void a_run_that_fails_is_paused_or_cancelled_has_no_statement_compiled() {
        try (PostgresStore store = open()) {
            StoreFixture fixture = new StoreFixture(store);
            List<RunRef> runs = fixture.startAll(List.of("a", "b", "c", "d", "e", "f"));
            fixture.apply(end(runs.get(0), RunState.FAILED));
            fixture.apply(end(runs.get(1), RunState.CANCELLED));
            fixture.apply(List.of(end(runs.get(2), RunState.FAILED), end(runs.get(3), RunState.CANCELLED)));
            fixture.apply(StoreFixture.complete(runs.get(4)));
        }
        assertThat(InstalledPostgres.compiledStatements()).isEmpty();
    }

    /** What the server thinks of the statement that tells reactions, which comes behind the settings of an end. */
    @Test
    void the_statement_for_reactions_does_not_look_expensive() throws Exception {
        PGSimpleDataSource explaining = InstalledPostgres.plain();
        explaining.setOptions("-c auto_explain.log_min_duration=0");
        try (PostgresStore store =
                PostgresStore.on(explaining).schema(SCHEMA).notifications(false).open()) {
            StoreFixture fixture = new StoreFixture(store);
            fixture.apply(end(fixture.start("explained"), RunState.FAILED));
        }
        List<String> costs = InstalledPostgres.costs("touched AS MATERIALIZED");
        assertThat(costs).isNotEmpty().allMatch(cost -> Double.parseDouble(cost) < 100_000);
    }

    @Test
    void nor_has_an_application_whose_runs_fail() throws Exception {
        Definition<String, String> fails = Definition.of("fails", String.class, String.class, (ctx, in) -> {
            ctx.step("try", () -> in);
            throw new IllegalStateException("no");
        });
        try (PostgresStore store = open();
                Perdure perdure = Perdure.on(store).register(fails).start()) {
            Run<String> run = perdure.start(Invocation.of(fails, "x"));
            assertThatThrownBy(() -> run.result(PATIENCE)).isInstanceOf(RunFailedException.class);
            assertThat(perdure.runs(RunFilter.all().definition("fails")).list()).hasSize(1);
            assertThat(perdure.runs(RunFilter.all()).count()).isNotNull();
            store.health();
            store.status();
        }
        assertThat(InstalledPostgres.compiledStatements()).isEmpty();
    }

    /** Or the tests above could not fail. */
    @Test
    void a_statement_that_is_compiled_is_noticed() throws SQLException {
        try (Connection connection = InstalledPostgres.plain().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET jit_above_cost = 0");
            statement.execute("SELECT sum(n) FROM generate_series(1, 3) AS n");
        }
        assertThat(InstalledPostgres.compiledStatements()).hasSize(1);
    }

    private static PostgresStore open() {
        return PostgresStore.on(pool).schema(SCHEMA).notifications(false).open();
    }

    private static Change.Advance end(RunRef run, RunState state) {
        return new Change.Advance(run, 1, List.of(), new Move.End(state, json("{}"), "no"));
    }
}
