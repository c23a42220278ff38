package dev.perdure.shards;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** A source of connections that counts what is executed on them. */
final class CountedSource {
    private final DataSource source;
    private final AtomicLong executed = new AtomicLong();

    CountedSource(DataSource source) {
        this.source = source;
    }

    DataSource source() {
        return counted(DataSource.class, source);
    }

    long executed() {
        return executed.get();
    }

    private <T> T counted(Class<T> type, Object target) {
        return type.cast(Proxy.newProxyInstance(
                CountedSource.class.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getName().startsWith("execute")) {
                        executed.incrementAndGet();
                    }
                    try {
                        return counted(method, method.invoke(target, arguments));
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    private Object counted(Method method, Object answer) {
        Class<?> type = method.getReturnType();
        boolean counts = type == Connection.class || Statement.class.isAssignableFrom(type);
        return counts ? counted(type, answer) : answer;
    }
}
