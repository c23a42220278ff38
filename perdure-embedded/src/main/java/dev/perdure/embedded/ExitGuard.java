package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes a server when the JVM exits, at any moment.
 *
 * <p>It installs the shutdown hook before it creates the server, and the hook waits for a server that is just being
 * created. This is necessary because threads continue while a JVM shuts down: without it, a folder created after the
 * hook has run would stay.
 */
final class ExitGuard {
    private final Thread hook = new Thread(this::exit, "perdure-postgres-exit");
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable EmbeddedPostgres server;
    private boolean exiting;

    private ExitGuard() {}

    static ExitGuard install() {
        var guard = new ExitGuard();
        try {
            Runtime.getRuntime().addShutdownHook(guard.hook);
        } catch (IllegalStateException e) {
            throw shuttingDown();
        }
        return guard;
    }

    EmbeddedPostgres make(Supplier<EmbeddedPostgres> maker) {
        lock.lock();
        try {
            if (exiting) {
                throw shuttingDown();
            }
            var made = maker.get();
            server = made;
            return made;
        } finally {
            lock.unlock();
        }
    }

    void remove() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is shutting down; this may be the hook itself.
        }
    }

    private void exit() {
        EmbeddedPostgres made;
        lock.lock();
        try {
            exiting = true;
            made = server;
        } finally {
            lock.unlock();
        }
        if (made != null) {
            made.close();
        }
    }

    private static EmbeddedPostgresException shuttingDown() {
        return new EmbeddedPostgresException(Reason.NOT_RUNNING, "The JVM is shutting down, so no server can start.");
    }
}
