package dev.perdure.internal.time;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Random numbers that are the same each time. */
public final class SeededRandom {
    private SeededRandom() {}

    /** The numbers of a seed. */
    public static RandomGenerator from(long seed) {
        return new SplittableRandom(seed);
    }

    /** The numbers of a seed, with this check before each. */
    public static RandomGenerator from(long seed, Runnable check) {
        return new RunRandom(from(seed), check);
    }
}
