package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.StartOptions;
import dev.perdure.conformance.AdvanceConformance;
import dev.perdure.conformance.CommandConformance;
import dev.perdure.conformance.DispatchConformance;
import dev.perdure.conformance.LeasesConformance;
import dev.perdure.conformance.RaceConformance;
import dev.perdure.conformance.StartConformance;
import dev.perdure.conformance.dag.RerunConformance;
import dev.perdure.conformance.dag.TaskCommandConformance;
import dev.perdure.conformance.dag.TaskConformance;
import dev.perdure.conformance.object.CallCycleConformance;
import dev.perdure.conformance.object.CallPipelineConformance;
import dev.perdure.conformance.object.CompletedCallConformance;
import dev.perdure.conformance.object.ObjectConformance;
import dev.perdure.conformance.object.ObjectStateConformance;
import dev.perdure.spi.Store;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.postgresql.ds.PGSimpleDataSource;

/** Everything through a pooler in transaction mode, by which each transaction may be on another connection. */
final class BehindPoolerIT {
    private static final int CONNECTIONS = 3;
    private static final int RUNS = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** Sleeps for longer than a run stays in memory, so it is suspended, woken and claimed. */
    private static final Definition<Integer, Integer> DOUBLE_LATER =
            Definition.of("double-later", Integer.class, Integer.class, (ctx, number) -> {
                int doubled = ctx.step("double", () -> 2 * number);
                ctx.sleep(Duration.ofMillis(1_500));
                return ctx.step("same", () -> doubled);
            });

    private static TransactionPooler pooler;
    private static HikariDataSource pool;

    @BeforeAll
    static void open() {
        pooler = new TransactionPooler(CONNECTIONS);
        pool = TestServer.pool(pooler.source(), 12);
    }

    @AfterAll
    static void leavesNothingOnAConnection() {
        pool.close();
        pooler.close();
        assertThat(pooler.sessionState()).isEmpty();
        assertThat(pooler.moves()).isPositive();
    }

    @Test
    void runs_end_with_the_listening_connection_beside_the_pooler() throws Exception {
        String schema = TestServer.newSchema();
        PostgresStoreBuilder store = PostgresStore.on(pool).schema(schema).listenOn(TestServer.plain());
        try (PostgresStore here = store.open();
                PostgresStore there = store.open()) {
            here.awaitListening();
            there.awaitListening();
            runsEnd(here, there);
        }
    }

    @Test
    void runs_end_with_polling_only() {
        String schema = TestServer.newSchema();
        PostgresStoreBuilder store = PostgresStore.on(pool).schema(schema).notifications(false);
        try (PostgresStore here = store.open();
                PostgresStore there = store.open()) {
            runsEnd(here, there);
        }
    }

    private static void runsEnd(PostgresStore here, PostgresStore there) {
        try (Perdure client = Perdure.on(here).client();
                Perdure worker = Perdure.on(there).register(DOUBLE_LATER).start()) {
            List<Integer> inputs = IntStream.range(0, RUNS).boxed().toList();
            List<Run<Integer>> runs = client.startAll(
                    inputs, input -> Invocation.of(DOUBLE_LATER, input), input -> StartOptions.defaults());
            for (int input : inputs) {
                assertThat(runs.get(input).result(PATIENCE)).isEqualTo(2 * input);
            }
            assertThat(worker.runs(RunFilter.all().limit(RUNS + 1)).list()).hasSize(RUNS);
        }
    }

    /** Or the check above could not fail. */
    @Test
    void the_pooler_notices_what_stays_on_a_connection() throws Exception {
        try (TransactionPooler strict = new TransactionPooler(1)) {
            PGSimpleDataSource prepared = strict.source();
            prepared.setPrepareThreshold(1);
            try (Connection connection = prepared.getConnection();
                    PreparedStatement named = connection.prepareStatement("SELECT 1");
                    Statement statement = connection.createStatement()) {
                named.execute();
                statement.execute("LISTEN a");
                statement.execute("SET lock_timeout = 1000");
                statement.execute("SELECT set_config('lock_timeout', '1s', false)");
                statement.execute("SELECT pg_advisory_lock(1)");
                statement.execute("CREATE TEMP TABLE a (b int)");
            }
            assertThat(strict.sessionState())
                    .contains(
                            "LISTEN a",
                            "SET lock_timeout = 1000",
                            "SELECT set_config('lock_timeout', '1s', false)",
                            "SELECT pg_advisory_lock(1)",
                            "CREATE TEMP TABLE a (b int)")
                    .anyMatch(noted -> noted.startsWith("the prepared statement S_"));
        }
    }

    private static Store freshStore(Supplier<Instant> time) {
        return PostgresStore.on(pool)
                .schema(TestServer.schemaOf(BehindPoolerIT.class))
                .notifications(false)
                .time(time)
                .open();
    }

    @Nested
    final class Starting extends StartConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Advancing extends AdvanceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Commanding extends CommandConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class Dispatching extends DispatchConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Leasing extends LeasesConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Racing extends RaceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Objects extends ObjectConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class CallCycles extends CallCycleConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class ObjectStates extends ObjectStateConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class CallPipelines extends CallPipelineConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class CompletedCalls extends CompletedCallConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Grouping extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class TaskCommands extends TaskCommandConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @EnabledIfSystemProperty(named = "pooler", matches = "all")
    final class Reruns extends RerunConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
