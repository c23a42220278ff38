package dev.perdure.internal.engine;

import dev.perdure.RunChange;
import dev.perdure.RunListener;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the user's listeners, and lets none of them do harm. */
final class Listeners {
    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    private final List<RunListener> listeners;

    Listeners(List<RunListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    void tell(RunChange change) {
        switch (change.state()) {
            case PAUSED ->
                LOG.warn(
                        "Run {} ({}) is paused: {}",
                        change.runId(),
                        change.definition(),
                        change.reason().orElse(""));
            case PENDING, READY, RUNNING, SUSPENDED, BACKING_OFF, COMPLETED, FAILED, CANCELLED, SKIPPED -> {}
        }
        for (RunListener listener : listeners) {
            try {
                listener.changed(change);
            } catch (RuntimeException careless) {
                LOG.warn("A listener threw for run {}; ignored.", change.runId(), careless);
            }
        }
    }
}
