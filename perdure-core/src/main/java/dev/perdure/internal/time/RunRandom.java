package dev.perdure.internal.time;

import java.util.random.RandomGenerator;

/**
 * The random numbers of a run, which only the workflow itself may take. A number that a step body or another thread takes would be
 * missing on a replay, and all later numbers would be others.
 */
final class RunRandom implements RandomGenerator {
    private final RandomGenerator random;
    private final Runnable check;

    /** Takes numbers from this generator, each time after this check. */
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
