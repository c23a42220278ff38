package dev.perdure.postgres.hint;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Threads;
import dev.perdure.postgres.jdbc.TransactionSettings;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.spi.Hints;
import dev.perdure.spi.report.EngineLog;
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

/**
 * Listens to the notifications of other processes, on its own connection.
 *
 * <p>How it works: a platform thread waits for notifications in short intervals, which costs the server nothing. If
 * nothing arrives for some seconds, it queries the server, so that it detects a half-open connection. It reconnects
 * after every loss, almost at once and then at growing intervals, and tells all listeners to poll, because notifications may
 * have been missed. Only speed depends on it, so it logs once when it loses the connection and once when it is back.
 *
 * <p>The connection also stands for the workers of this store: while its {@link Backends backend} is there, their process
 * is alive.
 */
public final class ListeningLoop implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final int TURN_MILLIS = 100;
    private static final Duration SILENCE = Duration.ofSeconds(8);
    private static final int SIGN_OF_LIFE_SECONDS = 5;
    /** It hears nothing while it asks about backends. */
    private static final int ATTENTION_MILLIS = 2_000;
    /** Others wait for {@link Backends} no longer, so several attempts fit into that time. */
    private static final int PAUSE_STEP_MILLIS = 20;

    private static final int LONGEST_PAUSE_MILLIS = 500;

    private final DataSource source;
    private final Schema schema;
    private final String self;
    private final PostgresHints hints;
    private final Backends backends;
    private final TransactionSettings settings = new TransactionSettings();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch listening = new CountDownLatch(1);
    private final Thread thread;

    public ListeningLoop(DataSource source, Schema schema, String self, PostgresHints hints, Backends backends) {
        this.source = source;
        this.schema = schema;
        this.self = self;
        this.hints = hints;
        this.backends = backends;
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
        int pause = PAUSE_STEP_MILLIS;
        try {
            while (!isClosing()) {
                try (Connection connection = source.getConnection()) {
                    boolean autoCommit = connection.getAutoCommit();
                    int networkTimeout = connection.getNetworkTimeout();
                    try {
                        PGConnection driver = begin(connection);
                        if (lost) {
                            LOG.info("Listening for notifications again.");
                            hints.tellHere(new Hints.WorkReady());
                        }
                        lost = false;
                        pause = PAUSE_STEP_MILLIS;
                        listening.countDown();
                        listen(connection, driver);
                    } finally {
                        end(connection, autoCommit, networkTimeout);
                    }
                } catch (SQLException e) {
                    if (!lost && !isClosing()) {
                        LOG.warn("Not listening for notifications for now; polling continues: {}", e.getMessage());
                    }
                    lost = true;
                } catch (RuntimeException unexpected) { // thrown by the DataSource
                    if (!lost && !isClosing()) {
                        LOG.warn("Not listening for notifications for now; polling continues.", unexpected);
                    }
                    lost = true;
                }
                if (backends.disconnected()) {
                    hints.tellHere(new Hints.LeaseInDoubt()); // A renewal says that the workers here are alive.
                }
                if (lost && closing.await(ThreadLocalRandom.current().nextInt(pause + 1), TimeUnit.MILLISECONDS)) {
                    return;
                }
                pause = Math.min(pause + PAUSE_STEP_MILLIS, LONGEST_PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private PGConnection begin(Connection connection) throws SQLException {
        connection.setAutoCommit(true);
        if (connection.getNetworkTimeout() == 0) {
            connection.setNetworkTimeout(Runnable::run, SIGN_OF_LIFE_SECONDS * 1_000);
        }
        try (Statement statement = connection.createStatement()) {
            // A channel cannot be a parameter. Its name contains only the checked schema name.
            statement.execute("LISTEN %s".formatted(schema.channel()));
        }
        PromptNotifications.on(connection);
        return connection.unwrap(PGConnection.class);
    }

    private void listen(Connection connection, PGConnection driver) throws SQLException {
        long heard = System.nanoTime();
        Connection settled = settings.on(connection, true, ATTENTION_MILLIS);
        backends.connected();
        while (!isClosing()) {
            Backends.Attended attended = backends.attend(settled, driver.getBackendPID());
            if (attended.doubt()) {
                hints.tell(new Hints.LeaseInDoubt());
            }
            if (attended.registered()) {
                hints.notifyOthers(Notice.REGISTERED);
            }
            if (attended.asked()) {
                heard = System.nanoTime();
            }
            PGNotification[] notifications = driver.getNotifications(backends.millisToNext(TURN_MILLIS));
            if (notifications != null && notifications.length > 0) {
                heard = System.nanoTime();
                for (PGNotification notification : notifications) {
                    hear(Notice.read(self, notification.getParameter()));
                }
            } else if (System.nanoTime() - heard > SILENCE.toNanos()) {
                if (!connection.isValid(SIGN_OF_LIFE_SECONDS)) {
                    throw new SQLException("The server does not answer.", "08006");
                }
                heard = System.nanoTime();
            }
        }
    }

    private void hear(Notice.Heard notice) {
        if (notice.watching()) {
            hints.waitingCallers().heard();
        }
        if (notice.registered()) {
            backends.othersRegistered();
        }
        notice.hints().forEach(hints::tellHere);
    }

    /**
     * The connection may go back to a pool, whose other users do not want these notifications and settings, also if the
     * server has refused to listen.
     */
    private void end(Connection connection, boolean autoCommit, int networkTimeout) {
        PromptNotifications.off(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("UNLISTEN %s".formatted(schema.channel()));
            connection.setAutoCommit(autoCommit);
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException lost) {
            LOG.debug("The listening connection is lost.", lost);
        }
    }

    @Override
    public void close() {
        closing.countDown();
        Threads.join(thread);
    }
}
