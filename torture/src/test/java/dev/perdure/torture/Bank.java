package dev.perdure.torture;

import static dev.perdure.transaction.TransactionOptions.isolation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.transaction.TransactionOptions.Isolation;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Accounts, and a ledger without constraints, so that a transfer that was made twice shows. */
final class Bank {
    static final int ACCOUNTS = 50;
    static final int BALANCE = 1_000;

    private static final String CREATE = """
            CREATE TABLE account (number int PRIMARY KEY, balance int NOT NULL);
            CREATE TABLE transfer (run text NOT NULL, source int NOT NULL, target int NOT NULL, amount int NOT NULL);
            INSERT INTO account SELECT number, %d FROM generate_series(0, %d - 1) AS number
            """.formatted(BALANCE, ACCOUNTS);
    private static final String READ = "SELECT balance FROM account WHERE number = ?";
    private static final String WRITE = "UPDATE account SET balance = ? WHERE number = ?";
    private static final String NOTE = "INSERT INTO transfer VALUES (?, ?, ?, ?)";

    private Bank() {}

    /** How much goes from where to where. */
    record Transfer(int source, int target, int amount) {}

    static void create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CREATE);
        }
    }

    /** Reads both balances and writes both: right only if transactions are serializable and take effect once. */
    static Definition<Transfer, Integer> definition(TransactionSource<Connection> accounts) {
        return Definition.of("transfer", Transfer.class, Integer.class, (ctx, transfer) -> {
            String run = ctx.runId().value();
            return ctx.transaction(
                    "transfer",
                    accounts,
                    connection -> transfer(connection, run, transfer),
                    isolation(Isolation.SERIALIZABLE));
        });
    }

    static int transfer(Connection connection, String run, Transfer transfer) throws SQLException {
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

    /** Nothing is lost, nothing was made twice, and the balances are what the ledger says. */
    static void isRight(DataSource database, int transfers) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(one(statement, "SELECT sum(balance) FROM account"))
                    .as("the money there is")
                    .isEqualTo(ACCOUNTS * BALANCE);
            assertThat(one(statement, "SELECT count(*) FROM transfer"))
                    .as("lines in the ledger")
                    .isEqualTo(transfers);
            assertThat(one(statement, "SELECT count(DISTINCT run) FROM transfer"))
                    .as("runs in the ledger")
                    .isEqualTo(transfers);
            assertThat(one(statement, """
                            SELECT count(*) FROM account a
                            WHERE balance <> %d
                                - (SELECT COALESCE(sum(amount), 0) FROM transfer WHERE source = a.number)
                                + (SELECT COALESCE(sum(amount), 0) FROM transfer WHERE target = a.number)
                            """.formatted(BALANCE)))
                    .as("accounts that differ from the ledger")
                    .isZero();
        }
    }

    private static int one(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }
}
