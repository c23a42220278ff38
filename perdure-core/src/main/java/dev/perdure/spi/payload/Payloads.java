package dev.perdure.spi.payload;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/** Keeps large payloads beside the runs, and knows to which payloads the runs refer, wherever these are kept. */
public interface Payloads extends PayloadStore {
    /** Those of these payloads to which something that the store keeps refers, at one point in time. */
    Set<PayloadReference> referred(Collection<PayloadReference> references);

    /**
     * Takes the turn to look at all payloads, if no worker has taken it for so long. So one worker of all processes does
     * that work.
     *
     * @return whether the caller has the turn now
     */
    boolean takeTurn(Duration rest);
}
