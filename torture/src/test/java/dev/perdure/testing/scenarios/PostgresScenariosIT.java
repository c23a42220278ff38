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
 * The scenarios again, in virtual time, on a real PostgreSQL. Without {@code -Pthorough} only those of limits, objects,
 * graphs, messages and what else the store decides by itself.
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
            "limiter_rate",
            "drain",
            "reaction",
            "lateness",
            "payload",
            "payload_chunk");

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
        clearTables();
        return PerdureTest.on(PostgresScenariosIT::store, mode);
    }

    private static void clearTables() {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CLEAR);
        } catch (SQLException cannot) {
            throw new IllegalStateException("The tables could not be cleared.", cannot);
        }
    }

    /** Scenarios on PostgreSQL. */
    private interface OnPostgres extends Kit {
        @Override
        default PerdureTest create(TestMode mode) {
            return onPostgres(mode);
        }
    }

    private static Store store(Clockwork clockwork) {
        return PostgresStore.on(pool).notifications(false).time(clockwork::now).open();
    }

    @Nested
    @Tag("thorough")
    class Invocations extends InvocationScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Histories extends HistoryScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class WaitReasons extends WaitReasonScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Cancellation extends CancellationScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Crash extends CrashScenarios implements OnPostgres {}

    @Nested
    class Dag extends DagScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagStart extends DagStartScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagFailure extends DagFailureScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagInterruption extends DagInterruptionScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagCondition extends DagConditionScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagCode extends DagCodeScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class DagForEach extends DagForEachScenarios implements OnPostgres {}

    @Nested
    class Inheritance extends InheritanceWalk {
        @Override
        Store open(Clockwork clockwork) {
            return store(clockwork);
        }

        @Override
        void clear() {
            clearTables();
        }
    }

    @Nested
    class DagRepair extends DagRepairScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Deadline extends DeadlineScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Determinism extends DeterminismScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class ChangedCall extends ChangedCallScenarios implements OnPostgres {}

    @Nested
    class Fault extends FaultScenarios implements OnPostgres {}

    @Nested
    class Kill extends KillScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Listener extends ListenerScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Attributes extends AttributeScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Listing extends ListingScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Misuse extends MisuseScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Patch extends PatchScenarios implements OnPostgres {}

    @Nested
    class Awaited extends AwaitedScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Pause extends PauseScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Errors extends ErrorScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class OddException extends OddExceptionScenarios implements OnPostgres {}

    @Nested
    class Poison extends PoisonScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Retry extends RetryScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Starting extends StartingScenarios implements OnPostgres {}

    @Nested
    class StartKeys extends StartKeyScenarios implements OnPostgres {}

    @Nested
    class StartLimit extends StartLimitScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Step extends StepScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Swallowing extends SwallowingScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    class Timer extends TimerScenarios implements OnPostgres {}

    @Nested
    class Transaction extends TransactionScenarios implements OnPostgres {}

    @Nested
    class Worker extends WorkerScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Childs extends ChildScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Schedules extends ScheduleScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class ScheduleCommands extends ScheduleCommandScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class DeployedSchedules extends DeployedScheduleScenarios implements OnPostgres {}

    @Nested
    final class FullKeys extends FullKeyScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Audits extends AuditScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Versions extends VersionScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class BulkActions extends BulkScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class RetriedRuns extends RetriedRunScenarios implements OnPostgres {}

    @Nested
    final class Retained extends RetentionScenarios implements OnPostgres {}

    @Nested
    final class LogLinesOfSteps extends LogLineScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class ProgressOfSteps extends ProgressScenarios implements OnPostgres {}

    @Nested
    final class Reactions extends ReactionScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class LargePayloads extends LargePayloadScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class EncryptedValues extends EncryptionScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class EncryptedAttributes extends EncryptedAttributeScenarios implements OnPostgres {}

    @Nested
    final class ReencryptedValues extends ReencryptionScenarios implements OnPostgres {}

    @Nested
    final class LimitersOfSteps extends LimiterScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class LabelsOfWorkers extends PlacementScenarios implements OnPostgres {}

    @Nested
    final class QueuesWithLimits extends QueueScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Combinators extends CombinatorScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class ContinueAsNews extends ContinueAsNewScenarios implements OnPostgres {}

    @Nested
    final class Events extends EventScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Messages extends MessageScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class ParallelSteps extends ParallelStepScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Promises extends PromiseScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Publishs extends PublishScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Sagas extends SagaScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Interceptors extends InterceptorScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Headers extends HeaderScenarios implements OnPostgres {}

    @Nested
    final class SentHeaders extends SentHeaderScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class Trees extends TreeScenarios implements OnPostgres {}

    @Nested
    final class Objects extends ObjectScenarios implements OnPostgres {}

    @Nested
    final class ObjectStates extends ObjectStateScenarios implements OnPostgres {}

    @Nested
    @Tag("thorough")
    final class ObjectCalls extends ObjectCallScenarios implements OnPostgres {}
}
