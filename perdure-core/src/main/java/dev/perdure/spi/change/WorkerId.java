package dev.perdure.spi.change;

import java.util.UUID;

/**
 * The id of one incarnation of a worker: random, not a host name, and never reused.
 *
 * @param value the random part
 */
public record WorkerId(UUID value) {
    @Override
    public String toString() {
        return value.toString();
    }
}
