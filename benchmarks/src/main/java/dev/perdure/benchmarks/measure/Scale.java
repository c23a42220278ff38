package dev.perdure.benchmarks.measure;

import java.time.Duration;

/** How long and how often to measure. */
public enum Scale {
    /** For published figures. */
    FULL(3, Duration.ofSeconds(2), Duration.ofSeconds(15)),
    /** For the goals alone: as exact as the published figures, without those that no goal needs. */
    GOALS(3, Duration.ofSeconds(2), Duration.ofSeconds(15)),
    /** For daily use: shows the order of magnitude. */
    QUICK(1, Duration.ofSeconds(1), Duration.ofSeconds(1)),
    /** For tests: shows that the measurement runs. */
    TINY(1, Duration.ofMillis(50), Duration.ofMillis(20));

    private final int rounds;
    private final Duration round;
    private final Duration warmUp;

    Scale(int rounds, Duration round, Duration warmUp) {
        this.rounds = rounds;
        this.round = round;
        this.warmUp = warmUp;
    }

    /** The number of rounds. */
    public int rounds() {
        return rounds;
    }

    /** The time of a round, if it is limited by time. */
    public Duration round() {
        return round;
    }

    /** How long to run the code before the measurement. */
    public Duration warmUp() {
        return warmUp;
    }

    /** Returns the value for this scale. */
    public <T> T choose(T full, T quick, T tiny) {
        return switch (this) {
            case FULL, GOALS -> full;
            case QUICK -> quick;
            case TINY -> tiny;
        };
    }
}
