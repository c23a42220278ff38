package dev.perdure.internal.time;

import java.util.random.RandomGenerator;

/**
 * The random numbers of a run. Only the workflow itself may take them: a number that a step body or another thread
 * takes would be missing on a replay, and all later numbers would differ.
 */
final class RunRandom implements RandomGenerator {
    private final RandomGenerator random;
    private final Runnable check;

    /** Takes numbers from this generator, with this check before each. */
    RunRandom(RandomGenerator random, Runnable check) {
        this.random = random;
        this.check = check;
    }

    @Override
    public int nextInt() {
        check.run();
        return random.nextInt();
    }

    @Override
    public long nextLong() {
        check.run();
        return random.nextLong();
    }

    @Override
    public void nextBytes(byte[] bytes) {
        check.run();
        random.nextBytes(bytes);
    }
}
