package dev.perdure.embedded;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes a server when the JVM exits, at whatever moment that happens.
 *
 * <p>It is there before anything is made, and waits for what is just being made: threads go on while a JVM shuts down,
 * and a folder that came into being between two looks would stay.
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
            throw exitingAlready();
        }
        return guard;
    }

    EmbeddedPostgres make(Supplier<EmbeddedPostgres> maker) {
        lock.lock();
        try {
            if (exiting) {
                throw exitingAlready();
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
            // The JVM is going down; this may even be the hook.
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

    private static EmbeddedPostgresException exitingAlready() {
        return new EmbeddedPostgresException(
                Reason.NOT_RUNNING, "The JVM is shutting down, no server starts any more.");
    }
}
