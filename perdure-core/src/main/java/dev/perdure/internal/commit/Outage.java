package dev.perdure.internal.commit;

import dev.perdure.error.StoreException;
import dev.perdure.spi.report.EngineLog;
import org.slf4j.Logger;

/**
 * Logs once that a loop cannot do its work, because of the store or for another reason, and once that it can again. For
 * one thread only.
 */
public final class Outage {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    private final String work;
    private boolean on;
    private boolean ofStore;

    /**
     * For one loop.
     *
     * @param work what the loop does, in words that can follow "cannot"
     */
    public Outage(String work) {
        this.work = work;
    }

    public void noticed(StoreException trouble) {
        if (!on) {
            on = true;
            ofStore = trouble.kind() != StoreException.Kind.MOVING;
            switch (trouble.kind()) {
                case MOVING ->
                    LOG.warn(
                            "A partition moves from one shard to another, so this engine cannot {}. It tries again until it can: {}",
                            work,
                            trouble.getMessage());
                case UNAVAILABLE ->
                    LOG.warn(
                            "The store is out of reach, so this engine cannot {}. It tries again until it can: {}",
                            work,
                            trouble.getMessage());
                case UNUSABLE ->
                    LOG.error(
                            "The store refuses to work with this engine, which cannot {}. It tries again; fix the cause.",
                            work,
                            trouble);
            }
        }
    }

    /** Any other error, including errors of the virtual machine. */
    public void noticed(Throwable unexpected) {
        if (unexpected instanceof StoreException trouble) {
            noticed(trouble);
        } else if (!on) {
            on = true;
            ofStore = false;
            LOG.error(
                    "An unexpected error keeps this engine from its work: it cannot {}. It tries again until it can; fix the"
                            + " cause.",
                    work,
                    unexpected);
        }
    }

    public void over() {
        if (on) {
            on = false;
            LOG.info(ofStore ? "The store is back: this engine can {} again." : "This engine can {} again.", work);
        }
    }
}
