package dev.perdure.spring.boot;

import dev.perdure.spring.boot.internal.RunningEngine;
import dev.perdure.status.StoreHealth;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store for its health, and waits only so long for the answer: if the database is away, a connection pool keeps
 * its callers waiting for half a minute. Checks that come before the answer wait for the same answer, so they use one
 * connection in all. Thread-safe.
 */
final class HealthCheck {
    /** Platforms that probe an application wait for some seconds. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    private final RunningEngine engine;
    private final Duration patience;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable FutureTask<StoreHealth> asked;

    HealthCheck(RunningEngine engine, Duration patience) {
        this.engine = engine;
        this.patience = patience;
    }

    EngineHealth result() {
        try {
            return EngineHealth.of(engine.works(), answer().get(patience.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException late) {
            return EngineHealth.down(
                    "The store has not answered within %s ms. Look whether the database is reachable and the pool has free connections."
                            .formatted(patience.toMillis()));
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNullElse(failed.getCause(), failed);
            return EngineHealth.down(String.valueOf(cause.getMessage()));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return EngineHealth.down("The check was interrupted.");
        }
    }

    private FutureTask<StoreHealth> answer() {
        lock.lock();
        try {
            FutureTask<StoreHealth> open = asked;
            if (open == null || open.isDone()) {
                open = new FutureTask<>(engine::health);
                asked = open;
                Thread.ofVirtual().name("perdure-health").start(open);
            }
            return open;
        } finally {
            lock.unlock();
        }
    }
}
