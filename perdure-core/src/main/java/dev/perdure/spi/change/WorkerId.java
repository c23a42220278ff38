package dev.perdure.spi.change;

import java.util.UUID;

/**
 * One incarnation of a worker: random, never a host name, never used again.
 *
 * @param value the random part
 */
public record WorkerId(UUID value) {
    @Override
    public String toString() {
        return value.toString();
    }
}
