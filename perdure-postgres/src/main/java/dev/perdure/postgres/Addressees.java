package dev.perdure.postgres;

/**
 * Whether mail lately went to runs in memory. Those who talk to each other do it for a while, so it is a good guess where the
 * next goes; a wrong one costs a round trip.
 */
final class Addressees {
    private volatile boolean inMemory;

    void lately(boolean wasInMemory) {
        inMemory = wasInMemory;
    }

    boolean probablyInMemory() {
        return inMemory;
    }
}
