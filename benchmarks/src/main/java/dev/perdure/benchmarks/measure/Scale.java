package dev.perdure.benchmarks.measure;

import java.time.Duration;

/** How long and how often things are measured. */
public enum Scale {
    /** For figures to be published. */
    FULL(3, Duration.ofSeconds(2), Duration.ofSeconds(15)),
    /** For every day: shows the order of magnitude. */
    QUICK(1, Duration.ofSeconds(1), Duration.ofSeconds(1)),
    /** For tests: shows that it runs. */
    TINY(1, Duration.ofMillis(50), Duration.ofMillis(20));

    private final int rounds;
    private final Duration round;
    private final Duration warmUp;

    Scale(int rounds, Duration round, Duration warmUp) {
        this.rounds = rounds;
        this.round = round;
        this.warmUp = warmUp;
    }

    /** How often a figure is measured. */
    public int rounds() {
        return rounds;
    }

    /** How long a round takes that goes by time. */
    public Duration round() {
        return round;
    }

    /** How long the code is run before it is measured. */
    public Duration warmUp() {
        return warmUp;
    }

    /** One of three, for sizes that differ. */
    public <T> T choose(T full, T quick, T tiny) {
        return switch (this) {
            case FULL -> full;
            case QUICK -> quick;
            case TINY -> tiny;
        };
    }
}
