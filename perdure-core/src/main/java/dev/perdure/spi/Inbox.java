package dev.perdure.spi;

import dev.perdure.spi.change.Change;
import java.util.List;

/**
 * Where changes wait that were asked for in a transaction of the caller's own. Made by a store for one such transaction.
 */
@FunctionalInterface
public interface Inbox {
    /**
     * Puts changes in, in order: some worker applies them after the transaction has committed. It only inserts, and so waits
     * for nobody and holds up nobody.
     *
     * @param changes starts without an owner or mail, with or without tasks, deliveries, and commands
     */
    void put(List<Change> changes);
}
