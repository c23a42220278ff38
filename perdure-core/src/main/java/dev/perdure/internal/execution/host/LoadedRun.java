package dev.perdure.internal.execution.host;

import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.Optional;

/** An execution as its {@link Host} sees it. */
public interface LoadedRun {
    /** The run. */
    RunRef ref();

    /** The name of what it runs. */
    String definition();

    /** When it was started, by the store's clock; empty if the store does not know it yet. */
    Optional<Instant> createdAt();

    /** The worker has lost its lease: the execution writes nothing more, and leaves at its next call or wait. */
    void lose();
}
