package dev.perdure.spi.change;

import org.jspecify.annotations.Nullable;

/**
 * The committing connection of a worker that a batch uses. Lanes fence dead workers: the sweep removes a worker's lanes
 * before it takes the worker's runs, and a batch on a removed lane has no effect.
 *
 * @param worker the worker, or null for a client without a worker, which can only start and command
 * @param number from 0 to the number of lanes the worker joined with
 */
public record Lane(@Nullable WorkerId worker, int number) {
    /** For clients without a worker. */
    public static Lane client(int number) {
        return new Lane(null, number);
    }
}
