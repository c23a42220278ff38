package dev.perdure.spi.change;

import org.jspecify.annotations.Nullable;

/**
 * Which of a worker's committing connections a batch goes through. The lane is what fences: the sweep removes a dead
 * worker's lanes before it gives its runs away, and a batch on a removed lane does nothing.
 *
 * @param worker the worker, or null for a client without one, which can only start and command
 * @param number from 0 to the number of lanes the worker joined with
 */
public record Lane(@Nullable WorkerId worker, int number) {
    /** For clients without a worker. */
    public static Lane client(int number) {
        return new Lane(null, number);
    }
}
