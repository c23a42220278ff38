package dev.perdure.spi;

import dev.perdure.error.StoreException;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import java.util.List;

/**
 * The one way anything changes.
 *
 * <p>A batch is one transaction: when {@link #apply} returns, all of it is durable. Each change gets its own outcome, and
 * one that is fenced or refused does not disturb the others. No two changes of a batch speak of the same run, deliveries
 * apart: those are made last, in their order.
 */
public interface Ledger {
    /**
     * Applies a batch.
     *
     * @return one outcome per change, in order
     * @throws StoreException if it is not known whether the batch was applied; then apply the same batch again
     */
    List<Outcome> apply(Lane lane, List<Change> changes);
}
