package dev.perdure.postgres.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * What every transaction of ours states for itself, because the defaults of the server, of the database, of the role and
 * of the application's pool may be others than those for which the statements are made.
 *
 * <p>How it works: the settings are statements in front of the text that is sent anyway. So they cost no round trip, they
 * also hold behind a pooler, where the next transaction has another session, and nothing has to be restored: all of them
 * end with the transaction. {@link #on} returns a connection that puts them in front of what is sent first in a
 * transaction, and passes over their answers; otherwise it is the given one.
 *
 * <p>A statement without parameters ({@link Connection#createStatement}) is for what nothing can stand in front of: in a
 * transaction it comes after a request of its own with the settings that it needs, and alone it has none.
 */
public final class TransactionSettings {
    /**
     * The statements of a batch see the changes for which the ones before them have waited, which only READ COMMITTED
     * lets them see: the limits of queues rely on it. It comes first, because it must precede all that reads. Unlike SET
     * TRANSACTION it does not warn where the request is the transaction; it ends with the transaction all the same.
     */
    private static final String ISOLATION = "SET transaction_isolation = 'read committed'";

    /**
     * Statements whose plans are kept on indexes look expensive to the planner, and it would compile them each time,
     * which takes the server a second for an execution of a millisecond. And the server gives a statement up before its
     * caller does: otherwise each try would leave a server process that waits for the same lock.
     */
    private static final String OTHERS =
            "SELECT length(set_config('jit', 'off', true)) + length(set_config('statement_timeout', '%s', true)) AS done";

    private static final String SETTINGS = ISOLATION + ";\n" + OTHERS + ";\n";
    private static final int ANSWERS = 2;
    /** For statements without parameters. They do not read the database, so that more can be set behind them. */
    private static final String ALONE = ISOLATION + "; SET LOCAL jit = off; SET LOCAL statement_timeout = %s";

    /** The calls that end a transaction. */
    private static final Set<String> ENDS = Set.of("commit", "rollback");

    /** More texts than this are not kept. */
    private static final int MOST_TEXTS = 2_000;

    /** The texts with the settings in front, by how long a statement may take and by their own text. */
    private final ConcurrentMap<Integer, ConcurrentMap<String, String>> texts = new ConcurrentHashMap<>();

    /**
     * The connection for the transactions of a call.
     *
     * @param autoCommit whether each statement is a transaction
     * @param patience how long the caller waits for an answer, in milliseconds; 0 if without a limit
     */
    public Connection on(Connection connection, boolean autoCommit, int patience) {
        int limit = patience == 0 ? 0 : Math.max(1, patience / 10 * 9);
        return (Connection) Proxy.newProxyInstance(
                TransactionSettings.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new SettledConnection(connection, autoCommit, limit));
    }

    private String text(int limit, String statement) {
        ConcurrentMap<String, String> ofLimit = texts.computeIfAbsent(limit, unseen -> new ConcurrentHashMap<>());
        String known = ofLimit.get(statement);
        if (known != null) {
            return known;
        }
        String whole = SETTINGS.formatted(limit) + statement;
        if (ofLimit.size() < MOST_TEXTS) {
            ofLimit.put(statement, whole);
        }
        return whole;
    }

    private static @Nullable Object pass(Object to, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(to, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private final class SettledConnection implements InvocationHandler {
        private final Connection connection;
        private final boolean autoCommit;
        private final int limit;
        /** Whether the settings have been made in this transaction. */
        private boolean settled;

        SettledConnection(Connection connection, boolean autoCommit, int limit) {
            this.connection = connection;
            this.autoCommit = autoCommit;
            this.limit = limit;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (!settled
                    && arguments != null
                    && arguments.length == 1
                    && method.getName().equals("prepareStatement")) {
                PreparedStatement statement = connection.prepareStatement(text(limit, (String) arguments[0]));
                return Proxy.newProxyInstance(
                        TransactionSettings.class.getClassLoader(),
                        new Class<?>[] {PreparedStatement.class},
                        new SettledStatement(statement));
            }
            if (!settled && !autoCommit && method.getName().equals("createStatement")) {
                try (Statement alone = connection.createStatement()) {
                    alone.execute(ALONE.formatted(limit));
                }
                settled = true;
            }
            if (arguments == null && ENDS.contains(method.getName())) {
                settled = false; // the next statement begins another transaction
            }
            return pass(connection, method, arguments);
        }

        private final class SettledStatement implements InvocationHandler {
            private final PreparedStatement statement;

            SettledStatement(PreparedStatement statement) {
                this.statement = statement;
            }

            @Override
            public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
                    throws Throwable {
                return switch (method.getName()) {
                    case "execute" -> execute();
                    case "executeQuery" -> {
                        execute();
                        yield statement.getResultSet();
                    }
                    case "executeUpdate" -> {
                        execute();
                        yield statement.getUpdateCount();
                    }
                    default -> pass(statement, method, arguments);
                };
            }

            private boolean execute() throws SQLException {
                statement.execute();
                settled = !autoCommit;
                boolean isRows = false;
                for (int i = 0; i < ANSWERS; i++) {
                    isRows = statement.getMoreResults();
                }
                return isRows;
            }
        }
    }
}
