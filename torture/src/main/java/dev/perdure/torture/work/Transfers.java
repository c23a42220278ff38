package dev.perdure.torture.work;

import static dev.perdure.transaction.TransactionOptions.isolation;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.transaction.TransactionOptions.Isolation;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;

/**
 * Transfers between accounts as transaction steps. They read both balances and write both: right only if transactions
 * are serializable and take effect once. The ledger of the bank has no constraint, so a transfer made twice shows.
 */
public final class Transfers implements Workload {
    private static final int ACCOUNTS = 50;
    /** What is on each account at the beginning. */
    public static final int BALANCE = 1_000;

    private static final String CREATE = """
            CREATE TABLE account (number int PRIMARY KEY, balance int NOT NULL);
            CREATE TABLE transfer (run text NOT NULL, source int NOT NULL, target int NOT NULL, amount int NOT NULL);
            INSERT INTO account SELECT number, %d FROM generate_series(0, %d - 1) AS number
            """.formatted(BALANCE, ACCOUNTS);
    private static final String READ = "SELECT balance FROM account WHERE number = ?";
    private static final String WRITE = "UPDATE account SET balance = ? WHERE number = ?";
    private static final String NOTE = "INSERT INTO transfer VALUES (?, ?, ?, ?)";

    private static final String EXPLAINED = """
            SELECT count(*) FROM account a
            WHERE balance <> %d
                - (SELECT COALESCE(sum(amount), 0) FROM transfer WHERE source = a.number)
                + (SELECT COALESCE(sum(amount), 0) FROM transfer WHERE target = a.number)
            """.formatted(BALANCE);

    /** How much goes from where to where. */
    public record Transfer(int source, int target, int amount) {}

    /** The workflow. */
    public static Definition<Transfer, Integer> definition(TransactionSource<Connection> accounts) {
        return Definition.of("transfer", Transfer.class, Integer.class, (ctx, transfer) -> {
            String run = ctx.runId().value();
            return ctx.transaction(
                    "transfer",
                    accounts,
                    connection -> transfer(connection, run, transfer),
                    isolation(Isolation.SERIALIZABLE));
        });
    }

    /** Makes a transfer; gives what is left. */
    public static int transfer(Connection connection, String run, Transfer transfer) throws SQLException {
        int left = balance(connection, transfer.source()) - transfer.amount();
        int more = balance(connection, transfer.target()) + transfer.amount();
        set(connection, transfer.source(), left);
        set(connection, transfer.target(), more);
        try (PreparedStatement note = connection.prepareStatement(NOTE)) {
            note.setString(1, run);
            note.setInt(2, transfer.source());
            note.setInt(3, transfer.target());
            note.setInt(4, transfer.amount());
            note.execute();
        }
        return left;
    }

    private static int balance(Connection connection, int account) throws SQLException {
        try (PreparedStatement read = connection.prepareStatement(READ)) {
            read.setInt(1, account);
            try (ResultSet row = read.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private static void set(Connection connection, int account, int balance) throws SQLException {
        try (PreparedStatement write = connection.prepareStatement(WRITE)) {
            write.setInt(1, balance);
            write.setInt(2, account);
            write.execute();
        }
    }

    @Override
    public String name() {
        return "transfers";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition(PostgresTransactions.on(parts.store())));
    }

    @Override
    public void prepare(Connection connection) throws SQLException {
        create(connection);
    }

    /** Creates the accounts. */
    public static void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(CREATE);
        }
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        Random chance = new Random(number);
        int source = chance.nextInt(ACCOUNTS);
        int target = (source + 1 + chance.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
        client.start(
                Invocation.of(
                        definition(PostgresTransactions.on(parts.store())),
                        new Transfer(source, target, 1 + chance.nextInt(20))),
                StartOptions.id("transfers-" + number));
    }

    @Override
    public List<String> violations(Seen seen) throws SQLException {
        return violations(seen.database(), seen.started());
    }

    /** What is wrong with the accounts after so many transfers. */
    public static List<String> violations(DataSource database, int transfers) throws SQLException {
        List<String> violations = new ArrayList<>();
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            differs(
                    statement,
                    "SELECT sum(balance) FROM account",
                    ACCOUNTS * BALANCE,
                    "The money there is",
                    violations);
            differs(statement, "SELECT count(*) FROM transfer", transfers, "Lines in the ledger", violations);
            differs(statement, "SELECT count(DISTINCT run) FROM transfer", transfers, "Runs in it", violations);
            differs(statement, EXPLAINED, 0, "Accounts that differ from the ledger", violations);
        }
        return violations;
    }

    private static void differs(Statement statement, String sql, int wanted, String what, List<String> violations)
            throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            if (row.getInt(1) != wanted) {
                violations.add("%s: %d instead of %d.".formatted(what, row.getInt(1), wanted));
            }
        }
    }
}
