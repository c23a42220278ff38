package dev.perdure.postgres.jdbc;

import dev.perdure.error.ContextMisuseException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connection that the body of a transaction step gets. The transaction belongs to the engine, so the guard refuses
 * calls that would end or change it. The body may use savepoints. After the body has ended, the connection refuses
 * every call.
 */
public final class GuardedConnection implements InvocationHandler {
    private static final String ENGINES_TRANSACTION =
            "%s() was called in the body of a transaction step. The transaction belongs to the engine, which commits it with the step's record when the body returns, and rolls it back when it throws.";
    private static final String ENGINES_CONNECTION =
            "%s() was called in the body of a transaction step. The connection belongs to the engine, which gives it back when the transaction is over.";
    private static final String SET_BEFORE =
            "%s() was called in the body of a transaction step, when its transaction had begun. Set it in the TransactionOptions of the call.";

    private static final Map<String, String> REFUSED = Map.of(
            "commit", ENGINES_TRANSACTION,
            "setAutoCommit", ENGINES_TRANSACTION,
            "close", ENGINES_CONNECTION,
            "abort", ENGINES_CONNECTION,
            "setReadOnly", SET_BEFORE,
            "setTransactionIsolation", SET_BEFORE);

    private final Connection connection;
    private volatile boolean over;

    private GuardedConnection(Connection connection) {
        this.connection = connection;
    }

    /** A connection for one body, and the way to revoke it. */
    public record Lent(Connection connection, Runnable takeBack) {}

    public static Lent lend(Connection connection) {
        GuardedConnection guard = new GuardedConnection(connection);
        Connection proxy = (Connection) Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, guard);
        return new Lent(proxy, () -> guard.over = true);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        String name = method.getName();
        List<Object> given = arguments == null ? List.of() : Arrays.asList(arguments);
        if (method.getDeclaringClass() == Object.class) {
            return ofObject(proxy, name, given);
        }
        if (name.equals("isClosed") && over) {
            return true;
        }
        if (over) {
            throw new ContextMisuseException(
                    "%s() was called on the connection of a transaction step that has ended. The connection ends with its body: do not keep it."
                            .formatted(name));
        }
        String refusal = name.equals("rollback") && given.isEmpty() ? ENGINES_TRANSACTION : REFUSED.get(name);
        if (refusal != null) {
            throw new ContextMisuseException(refusal.formatted(name));
        }
        if (name.equals("unwrap") && given.contains(Connection.class)) {
            return proxy;
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    @SuppressWarnings("ReferenceEquality") // one guard is one connection, whatever the driver's equals says
    private @Nullable Object ofObject(Object proxy, String name, List<Object> given) {
        return switch (name) {
            case "equals" -> proxy == given.getFirst();
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "the connection of a transaction step: " + connection;
        };
    }
}
