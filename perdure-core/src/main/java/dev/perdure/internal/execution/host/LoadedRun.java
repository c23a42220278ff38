package dev.perdure.internal.execution.host;

import dev.perdure.spi.change.RunRef;

/** An execution as its {@link Host} sees it. */
public interface LoadedRun {
    /** The run. */
    RunRef ref();

    /** The name of what it runs. */
    String definition();

    /** The worker has lost its lease: the execution writes nothing more, and leaves at its next call or wait. */
    void lose();
}
