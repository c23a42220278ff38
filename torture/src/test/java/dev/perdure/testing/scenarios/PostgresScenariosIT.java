package dev.perdure.testing.scenarios;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The scenarios again, in virtual time, on a real PostgreSQL. Without {@code -Pthorough} only those in which the store
 * has a part of its own.
 */
class PostgresScenariosIT {
    private static final List<String> TABLES = List.of(
            "run",
            "journal",
            "event",
            "worker",
            "lane",
            "held",
            "ready",
            "timer",
            "start_limit",
            "start_key",
            "inbox",
            "inbox_task",
            "mail",
            "audit",
            "awakeable",
            "subscription",
            "publication",
            "object",
            "object_call",
            "object_state",
            "queue",
            "slot",
            "queue_turn",
            "queue_rate",
            "limiter",
            "permit",
            "limiter_rate");

    /** Where there are few rows this is ten times as quick as to truncate. */
    private static final String CLEAR =
            TABLES.stream().map("DELETE FROM perdure.%s"::formatted).collect(Collectors.joining("; "));

    private static final String TO_RUN_ALL = "runs with -Dscenarios=all";
    private static final boolean ALL = System.getProperty("scenarios", "").equals("all");

    /** The one that asks most of a store; in memory it is always all of them. */
    private static final Set<TestMode> MODES = ALL ? EnumSet.allOf(TestMode.class) : EnumSet.of(TestMode.THREE_WORKERS);

    private static SharedPostgres.Fresh database;
    private static HikariDataSource pool;

    @BeforeAll
    static void open() {
        database = SharedPostgres.database("scenarios");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(9);
        pool = new HikariDataSource(config);
        PostgresStore.on(pool).notifications(false).open().close();
    }

    @AfterAll
    static void close() {
        pool.close();
        database.close();
    }

    private static PerdureTest onPostgres(TestMode mode) {
        assumeTrue(MODES.contains(mode), TO_RUN_ALL);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CLEAR);
        } catch (SQLException cannot) {
            throw new IllegalStateException("The tables could not be cleared.", cannot);
        }
        return PerdureTest.on(PostgresScenariosIT::store, mode);
    }

    private static Store store(Clockwork clockwork) {
        return PostgresStore.on(pool).notifications(false).time(clockwork::now).open();
    }

    @Nested
    class Invocations extends InvocationScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Cancellation extends CancellationScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Crash extends CrashScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Dag extends DagScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class DagStart extends DagStartScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class DagFailure extends DagFailureScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class DagInterruption extends DagInterruptionScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class DagCondition extends DagConditionScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class DagCode extends DagCodeScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class DagForEach extends DagForEachScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class DagRepair extends DagRepairScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Deadline extends DeadlineScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Determinism extends DeterminismScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class ChangedCall extends ChangedCallScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Fault extends FaultScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Kill extends KillScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Listener extends ListenerScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Listing extends ListingScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Misuse extends MisuseScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Patch extends PatchScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Awaited extends AwaitedScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Pause extends PauseScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Errors extends ErrorScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Poison extends PoisonScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Retry extends RetryScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Starting extends StartingScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class StartKeys extends StartKeyScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class StartLimit extends StartLimitScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Step extends StepScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    class Swallowing extends SwallowingScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Timer extends TimerScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Transaction extends TransactionScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    class Worker extends WorkerScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Childs extends ChildScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Schedules extends ScheduleScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class DeployedSchedules extends DeployedScheduleScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class FullKeys extends FullKeyScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class RetriedRuns extends RetriedRunScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Retained extends RetentionScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class LimitersOfSteps extends LimiterScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class LabelsOfWorkers extends PlacementScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class QueuesWithLimits extends QueueScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    final class Combinators extends CombinatorScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class ContinueAsNews extends ContinueAsNewScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Events extends EventScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Messages extends MessageScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    final class ParallelSteps extends ParallelStepScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Promises extends PromiseScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Publishs extends PublishScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    final class Sagas extends SagaScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    @Tag("thorough")
    final class Trees extends TreeScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class Objects extends ObjectScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class ObjectStates extends ObjectStateScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    @Nested
    final class ObjectCalls extends ObjectCallScenarios {
        @Override
        protected PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }
}
