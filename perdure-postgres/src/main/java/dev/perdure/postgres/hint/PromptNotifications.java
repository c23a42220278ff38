package dev.perdure.postgres.hint;

import dev.perdure.spi.report.EngineLog;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.slf4j.Logger;

/**
 * Lets the driver return a notification as soon as it has arrived.
 *
 * <p>How it works: after a notification the driver waits a millisecond for another one, unless it is too early to look
 * again. It keeps that time in a field and has no option for it, so this sets the field. The driver still reads all that
 * has arrived; what arrives later is the answer to the next call. With a driver that has no such field, or where
 * reflection is not allowed, notifications are a millisecond later, and nothing else is different.
 */
final class PromptNotifications {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    private PromptNotifications() {}

    /** From now on, this connection returns notifications without waiting for more. */
    static void on(Connection connection) {
        lookAgainAt(Long.MAX_VALUE, connection);
    }

    /** The connection waits again, as those who get it from a pool expect. */
    static void off(Connection connection) {
        lookAgainAt(0, connection);
    }

    private static void lookAgainAt(long millis, Connection connection) {
        try {
            BaseConnection driver = connection.unwrap(BaseConnection.class);
            Object stream = field(QueryExecutorBase.class, "pgStream").get(driver.getQueryExecutor());
            field(PGStream.class, "nextStreamAvailableCheckTime").setLong(stream, millis);
        } catch (SQLException | ReflectiveOperationException | RuntimeException | LinkageError otherDriver) {
            LOG.debug("With this driver, notifications arrive a millisecond later than they could.", otherDriver);
        }
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
