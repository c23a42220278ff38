package dev.perdure.examples.shop;

import dev.perdure.error.TerminalException;
import org.springframework.stereotype.Component;

/** The service that brings parcels. */
public interface Carrier {
    /**
     * Takes a parcel. A second call with the same key is the same parcel.
     *
     * @return the tracking number
     * @throws TerminalException if it cannot be sent
     */
    String send(String key, Order order);

    /** For a shop on your own machine. */
    @Component
    class Imagined implements Carrier {
        @Override
        public String send(String key, Order order) {
            if (order.item().equals("piano")) {
                throw new TerminalException("A piano is too heavy for a parcel.");
            }
            return "TRACK-" + order.number();
        }
    }
}
