package dev.perdure.dashboard;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;

/** Counts how often statements are sent to a database. Thread-safe. */
final class CountedStatements {
    private final LongAdder sent = new LongAdder();

    /** The same database, whose statements are counted. */
    DataSource of(DataSource database) {
        return counted(DataSource.class, database);
    }

    /** How many statements have been sent. */
    long sent() {
        return sent.sum();
    }

    private <T> T counted(Class<T> as, Object real) {
        InvocationHandler passesOn = (self, method, arguments) -> {
            if (real instanceof Statement && method.getName().startsWith("execute")) {
                sent.increment();
            }
            try {
                Object result = method.invoke(real, arguments);
                Class<?> type = method.getReturnType();
                boolean leadsOn =
                        type == Connection.class || (real instanceof Connection && result instanceof Statement);
                return leadsOn && result != null ? counted(type, result) : result;
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        };
        return as.cast(Proxy.newProxyInstance(as.getClassLoader(), new Class<?>[] {as}, passesOn));
    }
}
