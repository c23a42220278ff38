package dev.perdure.postgres;

/**
 * Whether something was so lately. Those who talk to each other, or start what is started, do it for a while, so it is a good
 * guess how it is the next time; a wrong one costs a round trip.
 */
final class Lately {
    private volatile boolean so;

    void was(boolean so) {
        this.so = so;
    }

    boolean isSo() {
        return so;
    }
}
