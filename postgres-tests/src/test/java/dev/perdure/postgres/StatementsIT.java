package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.postgres.inbox.InboxSql;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.BackendSql;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.limiter.LimiterSql;
import dev.perdure.postgres.limiter.PermitSql;
import dev.perdure.postgres.payload.PayloadSql;
import dev.perdure.postgres.queue.QueueSql;
import dev.perdure.postgres.reaction.ReactionParts;
import dev.perdure.postgres.read.JournalSql;
import dev.perdure.postgres.read.LinksSql;
import dev.perdure.postgres.read.MailboxSql;
import dev.perdure.postgres.read.ObjectListSql;
import dev.perdure.postgres.read.QuerySql;
import dev.perdure.postgres.read.StartedRunsSql;
import dev.perdure.postgres.read.StatisticsSql;
import dev.perdure.postgres.removal.RemovalSql;
import dev.perdure.postgres.report.LogSql;
import dev.perdure.postgres.report.ReportSql;
import dev.perdure.postgres.shard.ExchangeSql;
import dev.perdure.postgres.shard.WaitsSql;
import dev.perdure.postgres.status.StatusSql;
import dev.perdure.postgres.transaction.TransactionSql;
import dev.perdure.postgres.version.VersionSql;
import dev.perdure.postgres.work.DispatchSql;
import dev.perdure.postgres.work.LimitedClaimSql;
import dev.perdure.postgres.work.PlacementSql;
import dev.perdure.postgres.work.StartLimitSql;
import dev.perdure.postgres.write.ReassignSql;
import dev.perdure.postgres.write.RepairSql;
import dev.perdure.postgres.write.RetrySql;
import dev.perdure.postgres.write.StartKeySql;
import dev.perdure.postgres.write.part.Claims;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.OneChangeSql;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSetMetaData;
import java.sql.Types;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The server accepts every statement, and those that are sent together return columns of fixed size. */
final class StatementsIT {
    private static final Schema SCHEMA = new Schema(TestServer.newSchema());
    private static final Set<Integer> FIXED_SIZE =
            Set.of(Types.BIGINT, Types.INTEGER, Types.SMALLINT, Types.BIT, Types.BOOLEAN, Types.TIMESTAMP, Types.OTHER);

    private static HikariDataSource pool;

    @BeforeAll
    static void migrate() {
        pool = TestServer.pool(3);
        PostgresStore.on(pool).schema(SCHEMA.name()).notifications(false).open().close();
    }

    @AfterAll
    static void close() {
        pool.close();
    }

    private static Map<String, String> statements(Object holder) throws IllegalAccessException {
        Map<String, String> statements = new LinkedHashMap<>();
        for (Field field : holder.getClass().getDeclaredFields()) {
            if (field.getType() == String.class && !java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                statements.put(field.getName(), (String) field.get(holder));
            }
        }
        return statements;
    }

    @Test
    void every_statement_is_accepted_by_the_server() throws Exception {
        LedgerSql ledger = new LedgerSql(SCHEMA);
        List<Object> holders = List.of(
                ledger,
                ledger.locks,
                ledger.moves,
                ledger.commands,
                ledger.own,
                ledger.localDag,
                new OneChangeSql(SCHEMA),
                ledger.mail,
                ledger.elsewhere,
                new ExchangeSql(SCHEMA),
                new WaitsSql(SCHEMA),
                ledger.dag,
                ledger.objects,
                ledger.completedCall,
                ledger.free,
                ledger.reactions,
                new Claims(SCHEMA, ledger, new Database(Connections.from(pool, 1), () -> null)),
                new LeaseSql(SCHEMA),
                new BackendSql(SCHEMA),
                new DispatchSql(SCHEMA, ledger),
                new LimitedClaimSql(SCHEMA, ledger),
                new PlacementSql(SCHEMA, ledger),
                new QueueSql(SCHEMA),
                new ObjectListSql(SCHEMA),
                new StatisticsSql(SCHEMA),
                new StatusSql(SCHEMA),
                new VersionSql(SCHEMA),
                new PermitSql(SCHEMA, ledger),
                new LimiterSql(SCHEMA),
                new ReportSql(SCHEMA, ledger),
                new LogSql(SCHEMA, ledger),
                new QuerySql(SCHEMA),
                new LinksSql(SCHEMA),
                new StartedRunsSql(SCHEMA),
                new JournalSql(SCHEMA, ledger.settings),
                new MailboxSql(SCHEMA),
                new InboxSql(SCHEMA),
                new StartLimitSql(SCHEMA),
                new StartKeySql(SCHEMA),
                new RemovalSql(SCHEMA),
                new PayloadSql(SCHEMA, ledger.settings),
                new ReassignSql(SCHEMA),
                new RetrySql(SCHEMA),
                new RepairSql(SCHEMA),
                new TransactionSql(SCHEMA));
        try (Connection connection = pool.getConnection()) {
            for (Object holder : holders) {
                for (Map.Entry<String, String> statement : statements(holder).entrySet()) {
                    for (String single : statement.getValue().split(";\n(?!COMMIT$)", -1)) {
                        try (PreparedStatement prepared = connection.prepareStatement(single)) {
                            assertThat(prepared.getMetaData())
                                    .as(statement.getKey())
                                    .isNotNull();
                        }
                    }
                }
            }
        }
    }

    @Test
    void statements_that_are_sent_together_return_columns_of_fixed_size_only() throws Exception {
        LedgerSql ledger = new LedgerSql(SCHEMA);
        LeaseSql lease = new LeaseSql(SCHEMA);
        List<String> together = new ArrayList<>(List.of(
                ledger.settings,
                ledger.locks.lock,
                ledger.locks.lockAfter,
                ledger.locks.lockAll,
                ledger.append,
                ledger.own.start,
                ledger.own.wait,
                ledger.own.end,
                ledger.localDag.start,
                ledger.localDag.end,
                ledger.localDag.endAndQueue,
                ledger.moves.move,
                ledger.moves.end,
                ledger.start,
                ledger.limit,
                ledger.commands.command,
                ledger.commands.tasks,
                ledger.dag.task,
                ledger.dag.open,
                ledger.dag.openAll,
                ledger.dag.rerun,
                ledger.objects.make,
                ledger.objects.lock,
                ledger.objects.enter,
                ledger.objects.follow,
                ledger.objects.state,
                ledger.objects.release,
                ledger.completedCall.startAndEnd,
                ledger.free.turn,
                ledger.objects.anyWaiting,
                ReactionParts.text(ledger.reactions)));
        together.addAll(statements(new OneChangeSql(SCHEMA)).values());
        together.addAll(statements(ledger.mail).values());
        List<String> poll = List.of(new DispatchSql(SCHEMA, ledger).poll.split(";\n", -1));
        together.addAll(poll.subList(0, poll.size() - 1));
        together.addAll(List.of(lease.forget, lease.expire, lease.busy, lease.expireBusy, lease.leftBehind));
        try (Connection connection = pool.getConnection()) {
            for (String statement : together) {
                try (PreparedStatement prepared = connection.prepareStatement(statement)) {
                    ResultSetMetaData columns = prepared.getMetaData();
                    for (int column = 1; column <= columns.getColumnCount(); column++) {
                        assertThat(columns.getColumnType(column))
                                .as("%s in %s", columns.getColumnName(column), statement)
                                .isIn(FIXED_SIZE);
                    }
                }
            }
        }
    }
}
