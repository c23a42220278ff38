package dev.perdure.internal.engine;

import dev.perdure.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once that the store is out of reach, and once that it is back. One thread only. */
final class Outage {
    private static final Logger LOG = LoggerFactory.getLogger(Outage.class);

    private boolean on;

    void noticed(StoreException trouble) {
        if (!on) {
            on = true;
            switch (trouble.kind()) {
                case UNAVAILABLE -> LOG.warn("The store is out of reach; runs wait for it. {}", trouble.getMessage());
                case UNUSABLE -> LOG.error("The store refuses to work with this engine; runs wait.", trouble);
            }
        }
    }

    void over() {
        if (on) {
            on = false;
            LOG.info("The store is back.");
        }
    }
}
