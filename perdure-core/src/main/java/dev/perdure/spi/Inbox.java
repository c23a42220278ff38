package dev.perdure.spi;

import dev.perdure.spi.change.Change;
import java.util.List;

/**
 * Holds the changes that an application requests in its own transaction. A store makes one for each such transaction.
 */
@FunctionalInterface
public interface Inbox {
    /**
     * Inserts changes, in order. A worker applies them after the transaction has committed. Because it only inserts, it
     * neither waits for other transactions nor blocks them.
     *
     * @param changes starts without an owner or mail, with or without tasks, deliveries, and commands
     */
    void put(List<Change> changes);
}
