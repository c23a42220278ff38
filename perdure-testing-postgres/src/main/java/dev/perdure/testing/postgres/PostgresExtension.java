package dev.perdure.testing.postgres;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a {@link PerdureTest} on PostgreSQL, or the {@link DataSource} of the test class. Each JVM has one
 * server, each test class a database, and each test a schema. The extension drops the database after the class, and the
 * server stops with the JVM. Works with JUnit 5.12 and later.
 */
public final class PostgresExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(PostgresExtension.class);

    /** For JUnit. */
    public PostgresExtension() {}

    /** A database with a count of the schemas in it. JUnit 5.12 closes only a {@code CloseableResource}. */
    @SuppressWarnings("deprecation")
    private record ClassDatabase(SharedPostgres.Fresh database, AtomicInteger schemas)
            implements AutoCloseable, Store.CloseableResource {
        @Override
        public void close() {
            database.close();
        }
    }

    /** The engine of one test. */
    @SuppressWarnings("deprecation")
    private record Owned(PerdureTest perdure) implements AutoCloseable, Store.CloseableResource {
        @Override
        public void close() {
            perdure.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == PerdureTest.class || type == DataSource.class;
    }

    @Override
    @SuppressWarnings("deprecation") // the name that JUnit 5.12 has, too
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ClassDatabase ofClass = databaseOf(context);
        if (parameter.getParameter().getType() == DataSource.class) {
            return ofClass.database().dataSource();
        }
        Owned ofTest = context.getStore(NAMESPACE)
                .getOrComputeIfAbsent(Owned.class, unseen -> new Owned(perdure(ofClass)), Owned.class);
        return Objects.requireNonNull(ofTest).perdure();
    }

    @SuppressWarnings("deprecation") // as above
    private static ClassDatabase databaseOf(ExtensionContext context) {
        Class<?> test = context.getRequiredTestClass();
        ExtensionContext ofClass = context.getParent()
                .filter(parent -> parent.getTestClass().isPresent())
                .orElse(context);
        ClassDatabase owned = ofClass.getStore(NAMESPACE)
                .getOrComputeIfAbsent(
                        ClassDatabase.class,
                        unseen -> new ClassDatabase(SharedPostgres.database(test.getSimpleName()), new AtomicInteger()),
                        ClassDatabase.class);
        return Objects.requireNonNull(owned);
    }

    private static PerdureTest perdure(ClassDatabase owned) {
        String schema = "perdure_" + owned.schemas().incrementAndGet();
        return PerdureTest.on(
                clockwork -> PostgresStore.on(owned.database().dataSource())
                        .schema(schema)
                        .notifications(false)
                        .time(clockwork::now)
                        .open(),
                TestMode.NORMAL);
    }
}
