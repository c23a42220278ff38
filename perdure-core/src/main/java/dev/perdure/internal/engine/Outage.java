package dev.perdure.internal.engine;

import dev.perdure.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once that the store does not let a loop do its work, and once that it does again. One thread only. */
final class Outage {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.store");

    private final String work;
    private boolean on;

    /**
     * For one loop.
     *
     * @param work what it does, after "cannot"
     */
    Outage(String work) {
        this.work = work;
    }

    void noticed(StoreException trouble) {
        if (!on) {
            on = true;
            switch (trouble.kind()) {
                case UNAVAILABLE ->
                    LOG.warn(
                            "The store is out of reach, so this engine cannot {}. It tries again until it can: {}",
                            work,
                            trouble.getMessage());
                case UNUSABLE ->
                    LOG.error(
                            "The store refuses to work with this engine, which cannot {}. It tries again; mend the cause.",
                            work,
                            trouble);
            }
        }
    }

    void over() {
        if (on) {
            on = false;
            LOG.info("The store is back: this engine can {} again.", work);
        }
    }
}
