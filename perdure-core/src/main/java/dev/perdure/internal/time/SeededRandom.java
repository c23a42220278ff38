package dev.perdure.internal.time;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Chance that is the same each time. */
public final class SeededRandom {
    private SeededRandom() {}

    /** The numbers that follow from a seed. */
    public static RandomGenerator from(long seed) {
        return new SplittableRandom(seed);
    }

    /** The same, each number after this check. */
    public static RandomGenerator from(long seed, Runnable check) {
        return new RunRandom(from(seed), check);
    }
}
