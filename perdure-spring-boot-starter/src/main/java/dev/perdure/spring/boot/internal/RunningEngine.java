package dev.perdure.spring.boot.internal;

import dev.perdure.Perdure;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.status.StoreHealth;

/** The engine of an application. */
public interface RunningEngine {
    /**
     * The engine to use now.
     *
     * @throws InvalidRequestException if it does not run: see {@link #notRunning()}
     */
    Perdure current();

    /**
     * The health of its store.
     *
     * @throws InvalidRequestException if the engine does not run
     */
    StoreHealth health();

    /** Whether this process runs workflows now. */
    boolean works();

    /** What a use before the start or after the stop throws. */
    static InvalidRequestException notRunning() {
        return new InvalidRequestException(
                "Perdure is not running: the application has not created all its beans, or has stopped. Use it from an ApplicationRunner, an event listener or a request instead of a constructor or @PostConstruct.");
    }
}
