package dev.perdure.torture;

import dev.perdure.Perdure;
import dev.perdure.error.PerdureException;
import dev.perdure.torture.work.Workload;
import dev.perdure.torture.work.Workload.Parts;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Starts the pieces of a workload one after the other, and each until it is acknowledged. */
final class Starter {
    private static final Duration BETWEEN = Duration.ofMillis(150);

    private final Workload workload;
    private final Perdure client;
    private final Parts parts;
    private final Thread thread;
    private volatile int acknowledged;
    private volatile boolean stopping;

    Starter(Workload workload, Perdure client, Parts parts) {
        this.workload = workload;
        this.client = client;
        this.parts = parts;
        this.thread = Thread.ofVirtual().name("starter-" + workload.name()).start(this::run);
    }

    private void run() {
        while (!stopping) {
            try {
                workload.start(client, parts, acknowledged);
                acknowledged++;
            } catch (PerdureException unknown) {
                continue; // it may have started: the next try finds it
            } finally {
                LockSupport.parkNanos(BETWEEN.toNanos());
            }
        }
    }

    Workload workload() {
        return workload;
    }

    /** How many pieces there are. */
    int acknowledged() {
        return acknowledged;
    }

    /** Starts no more, and waits until the last one is acknowledged. */
    void stop() throws InterruptedException {
        stopping = true;
        thread.join();
    }
}
