package dev.perdure.internal.worker;

import dev.perdure.RunChange;
import dev.perdure.RunListener;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.report.EngineLog;
import java.util.List;
import org.slf4j.Logger;

/** Calls the user's listeners. No listener can harm the engine. */
public final class Listeners {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");

    private final List<RunListener> listeners;
    private final PauseLog pauses;

    public Listeners(List<RunListener> listeners, Clockwork clockwork) {
        this.listeners = List.copyOf(listeners);
        this.pauses = new PauseLog(clockwork);
    }

    public void tell(RunChange change) {
        switch (change.state()) {
            case PAUSED -> pauses.paused(change);
            case PENDING, READY, RUNNING, SUSPENDED, BACKING_OFF, COMPLETED, FAILED, CANCELLED, SKIPPED -> {}
        }
        for (RunListener listener : listeners) {
            try {
                listener.changed(change);
            } catch (Throwable careless) { // Includes errors: the engine's thread must continue.
                LOG.warn("A listener threw for run {}; ignored.", change.runId(), careless);
            }
        }
    }
}
