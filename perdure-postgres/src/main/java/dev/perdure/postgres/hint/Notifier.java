package dev.perdure.postgres.hint;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Threads;
import dev.perdure.spi.report.EngineLog;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;

/**
 * Sends hints to other processes.
 *
 * <p>How it works: NOTIFY takes a lock that serialises commits, so it is never part of a batch. The notifier collects
 * hints, and one thread sends them together: the first at once, and then at most every few milliseconds. A hint may be
 * lost, so this transaction need not wait for the disk, and a failed one is neither repeated nor logged as an error.
 */
public final class Notifier implements AutoCloseable {
    private static final String NOTIFY = """
            SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, notice) FROM unnest(?::text[]) AS n (notice)
            """;
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final int MOST_GATHERED = 5_000;
    private static final Duration PAUSE = Duration.ofMillis(4);

    final String notify = NOTIFY;
    private final Database database;
    private final Schema schema;
    private final String self;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<String> gathered = new LinkedHashSet<>();
    private final Thread thread;
    private boolean closed;

    public Notifier(Database database, Schema schema, String self) {
        this.database = database;
        this.schema = schema;
        this.self = self;
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("perdure-notify-" + schema.name())
                .start(this::run);
    }

    /** Sends a line of a {@link Notice}. */
    void add(String line) {
        lock.lock();
        try {
            if (gathered.size() < MOST_GATHERED && gathered.add(line) && gathered.size() == 1) {
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            for (List<String> lines = take(); !lines.isEmpty(); lines = take()) {
                send(lines);
                pause();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The collected hints; nothing if closed. */
    private List<String> take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (gathered.isEmpty() && !closed) {
                changed.await();
            }
            List<String> lines = new ArrayList<>(gathered);
            gathered.clear();
            return lines;
        } finally {
            lock.unlock();
        }
    }

    private void send(List<String> lines) {
        try {
            database.call(connection -> {
                try (PreparedStatement statement = Database.prepare(connection, notify)) {
                    new Parameters(statement)
                            .text(schema.channel())
                            .texts(Notice.written(self, lines).toArray(String[]::new));
                    return statement.execute();
                }
            });
        } catch (RuntimeException e) { // Includes a full queue of notifications: this thread has to survive it.
            LOG.debug("Could not notify other processes. They find the changes by polling.", e);
        }
    }

    private void pause() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = PAUSE.toNanos();
            while (nanos > 0 && !closed) {
                nanos = changed.awaitNanos(nanos);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Sends the remaining hints and ends the thread. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        Threads.join(thread);
    }
}
