package dev.perdure.torture.upgrade;

import java.util.concurrent.CountDownLatch;

/** On which side of an upgrade a body runs. */
public enum Hold {
    /** In the older version: bodies that hold never end, and bodies that fail do. */
    BEFORE,
    /** In this version: both give what they were given. */
    AFTER;

    /** Never ends before the upgrade. */
    String hold(String text) throws InterruptedException {
        if (this == BEFORE) {
            new CountDownLatch(1).await();
        }
        return text;
    }

    /** Fails before the upgrade. */
    String fail(String text) {
        if (this == BEFORE) {
            throw new IllegalStateException("Not before the upgrade.");
        }
        return text;
    }
}
