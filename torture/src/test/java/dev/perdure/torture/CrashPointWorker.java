package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import javax.sql.DataSource;

/** A worker process that ends, as if it were killed, at one named point of its first transaction step. */
public final class CrashPointWorker {
    static final int EXIT = 99;
    static final Duration LEASE = Duration.ofSeconds(1);
    private static final String BEGIN = "AS transaction";
    private static final String COMMIT = ";\nCOMMIT";

    private CrashPointWorker() {}

    /** Where it ends. */
    enum Point {
        BEFORE_BODY,
        IN_BODY,
        BEFORE_COMMIT,
        AFTER_COMMIT_BEFORE_ACKNOWLEDGEMENT
    }

    /** Arguments: the JDBC URL, the user, the password, the point. */
    public static void main(String... args) throws IOException {
        Point point = Point.valueOf(args[3]);
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            DataSource treacherous = proxy(
                    DataSource.class,
                    pool,
                    (name, given, result) -> result instanceof Connection c
                            ? proxy(Connection.class, c, (called, arguments, made) -> watched(point, arguments, made))
                            : result);
            PostgresTransactions accounts = PostgresTransactions.on(store, treacherous);
            Perdure.on(store)
                    .register(CrashPointIT.definition(accounts, () -> end(point == Point.IN_BODY)))
                    .lease(LEASE)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
        }
    }

    private static Object watched(Point point, Object[] arguments, Object made) {
        if (!(made instanceof PreparedStatement statement) || !(arguments[0] instanceof String sql)) {
            return made;
        }
        boolean begins = sql.contains(BEGIN);
        boolean commits = sql.contains(COMMIT);
        return proxy(PreparedStatement.class, statement, (name, given, result) -> {
            if (name.equals("before execute")) {
                end(commits && point == Point.BEFORE_COMMIT);
            } else if (name.equals("execute")) {
                end(begins && point == Point.BEFORE_BODY);
                end(commits && point == Point.AFTER_COMMIT_BEFORE_ACKNOWLEDGEMENT);
            }
            return result;
        });
    }

    private static void end(boolean here) {
        if (here) {
            Runtime.getRuntime().halt(EXIT);
        }
    }

    /** Sees what was called and may change what comes back. */
    @FunctionalInterface
    private interface Watch {
        Object see(String method, Object[] arguments, Object result);
    }

    private static <T> T proxy(Class<T> type, T target, Watch watch) {
        return type.cast(Proxy.newProxyInstance(
                CrashPointWorker.class.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Object[] given = arguments == null ? new Object[] {""} : arguments;
                    watch.see("before " + method.getName(), given, "");
                    try {
                        return watch.see(method.getName(), given, method.invoke(target, arguments));
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }
}
