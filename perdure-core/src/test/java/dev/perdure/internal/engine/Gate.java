package dev.perdure.internal.engine;

import java.util.concurrent.CountDownLatch;

/** Where a thread stops until the test lets it continue. */
final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    void pass() {
        reached.countDown();
        passed(open);
    }

    void awaitSomebody() {
        passed(reached);
    }

    void open() {
        open.countDown();
    }

    /** Waits for it; a test is not interrupted. */
    static void passed(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unwanted) {
            throw new IllegalStateException(unwanted);
        }
    }
}
