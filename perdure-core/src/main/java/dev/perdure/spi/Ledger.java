package dev.perdure.spi;

import dev.perdure.error.StoreException;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import java.util.List;

/**
 * Applies all changes to the store.
 *
 * <p>A batch is one transaction: when {@link #apply} returns, all of it is durable. Each change has its own outcome. A
 * change that is fenced or refused does not affect the others. No two changes of a batch concern the same run, except
 * deliveries, which the store makes last, in their order.
 */
public interface Ledger {
    /**
     * Applies a batch.
     *
     * @return one outcome per change, in order
     * @throws StoreException if the store does not know whether it applied the batch; then apply the same batch again
     */
    List<Outcome> apply(Lane lane, List<Change> changes);
}
