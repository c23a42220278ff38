package dev.perdure.postgres.hint;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Threads;
import dev.perdure.spi.Hints;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to what other processes notify, on a connection of its own.
 *
 * <p>How it works: a platform thread waits in short turns for notifications, which costs the server nothing. When
 * nothing has come for some seconds it asks for a sign of life, so that a half-open connection is found out. It comes
 * back after every loss, at growing intervals, and then tells everyone to look, since notifications may have passed
 * meanwhile. Nothing depends on it but speed, so it logs once when it loses the connection and once when it has it
 * back.
 */
public final class ListeningLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.store");
    private static final int TURN_MILLIS = 100;
    private static final Duration SILENCE = Duration.ofSeconds(8);
    private static final int SIGN_OF_LIFE_SECONDS = 5;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final DataSource source;
    private final Schema schema;
    private final String self;
    private final PostgresHints hints;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch listening = new CountDownLatch(1);
    private final Thread thread;

    public ListeningLoop(DataSource source, Schema schema, String self, PostgresHints hints) {
        this.source = source;
        this.schema = schema;
        this.self = self;
        this.hints = hints;
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("perdure-listen-" + schema.name())
                .start(this::run);
    }

    /** Waits until it listens for the first time. */
    public boolean awaitListening(Duration limit) throws InterruptedException {
        return listening.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private void run() {
        boolean lost = false;
        long pause = 0;
        try {
            while (!isClosing()) {
                try (Connection connection = source.getConnection()) {
                    boolean autoCommit = connection.getAutoCommit();
                    PGConnection driver = begin(connection);
                    if (lost) {
                        LOG.info("Listening for notifications again.");
                        hints.tellHere(new Hints.WorkReady());
                    }
                    lost = false;
                    pause = 0;
                    listening.countDown();
                    listen(connection, driver);
                    end(connection, autoCommit);
                } catch (SQLException e) {
                    if (!lost && !isClosing()) {
                        LOG.warn("Not listening for notifications for now, polling goes on: {}", e.getMessage());
                    }
                    lost = true;
                } catch (RuntimeException unexpected) { // of the DataSource
                    if (!lost && !isClosing()) {
                        LOG.warn("Not listening for notifications for now, polling goes on.", unexpected);
                    }
                    lost = true;
                }
                pause = Math.min(pause * 2 + 100, LONGEST_PAUSE.toMillis());
                if (lost && closing.await(pause + ThreadLocalRandom.current().nextLong(100), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private PGConnection begin(Connection connection) throws SQLException {
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            // A channel cannot be a parameter; it is made of the checked schema name only.
            statement.execute("LISTEN %s".formatted(schema.channel()));
        }
        return connection.unwrap(PGConnection.class);
    }

    private void listen(Connection connection, PGConnection driver) throws SQLException {
        long heard = System.nanoTime();
        while (!isClosing()) {
            PGNotification[] notifications = driver.getNotifications(TURN_MILLIS);
            if (notifications != null && notifications.length > 0) {
                heard = System.nanoTime();
                for (PGNotification notification : notifications) {
                    hear(Notice.read(self, notification.getParameter()));
                }
            } else if (System.nanoTime() - heard > SILENCE.toNanos()) {
                if (!connection.isValid(SIGN_OF_LIFE_SECONDS)) {
                    throw new SQLException("No sign of life from the server.", "08006");
                }
                heard = System.nanoTime();
            }
        }
    }

    private void hear(Notice.Heard notice) {
        if (notice.watching()) {
            hints.waitingCallers().heard();
        }
        notice.hints().forEach(hints::tellHere);
    }

    /** The connection may go back to a pool, whose other users do not want these notifications: it stops listening first. */
    private void end(Connection connection, boolean autoCommit) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("UNLISTEN %s".formatted(schema.channel()));
        }
        connection.setAutoCommit(autoCommit);
    }

    @Override
    public void close() {
        closing.countDown();
        Threads.join(thread);
    }
}
