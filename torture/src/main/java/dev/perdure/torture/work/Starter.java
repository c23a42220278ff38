package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunConflictException;
import dev.perdure.torture.work.Workload.Parts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Starts the pieces of a workload one after the other, and each until it is acknowledged. */
public final class Starter {
    /** The pause between two pieces of a run with faults. */
    public static final Duration BETWEEN = Duration.ofMillis(150);

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Workload workload;
    private final Perdure client;
    private final Parts parts;
    private final Duration between;
    private final Thread thread;
    private volatile int acknowledged;
    private volatile boolean stopping;
    private volatile boolean givenUp;
    private volatile String trouble = "";

    /** Begins with piece 0, and pauses for so long after each. */
    public Starter(Workload workload, Perdure client, Parts parts, Duration between) {
        this.workload = workload;
        this.client = client;
        this.parts = parts;
        this.between = between;
        this.thread = Thread.ofVirtual().name("starter-" + workload.name()).start(this::run);
    }

    private void run() {
        boolean unknown = false;
        while (!stopping || (unknown && !givenUp)) {
            try {
                workload.start(client, parts, acknowledged);
                acknowledged++;
                unknown = false;
            } catch (RunConflictException itself) {
                trouble = conflict(itself);
                return;
            } catch (PerdureException lost) {
                unknown = true; // it may have started: the next try finds it
            } catch (RuntimeException unexpected) {
                trouble = "The starts of '%s' have ended: %s".formatted(workload.name(), unexpected);
                return;
            }
            LockSupport.parkNanos(between.toNanos());
        }
    }

    /** What it starts. */
    public Workload workload() {
        return workload;
    }

    /** How many pieces there are. */
    public int acknowledged() {
        return acknowledged;
    }

    /** Starts one more piece after the others, and tries until it is acknowledged. */
    public List<String> startLast() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < end) {
            try {
                workload.start(client, parts, acknowledged);
                acknowledged++;
                return List.of();
            } catch (RunConflictException itself) {
                return List.of(conflict(itself));
            } catch (PerdureException lost) {
                LockSupport.parkNanos(between.toNanos());
            }
        }
        return List.of(notAcknowledged());
    }

    /** Each try has the same ids and inputs, so a conflict is one with a start of its own. */
    private String conflict(RunConflictException itself) {
        return "A start of '%s' was refused as a conflict with itself: %s"
                .formatted(workload.name(), itself.getMessage());
    }

    private String notAcknowledged() {
        return "The last start of '%s' was not acknowledged within %d s."
                .formatted(workload.name(), PATIENCE.toSeconds());
    }

    /** Starts no more, and waits until the last one is acknowledged; gives what went wrong with the starts. */
    public List<String> stop() throws InterruptedException {
        stopping = true;
        if (!thread.join(PATIENCE)) {
            givenUp = true;
            return List.of(notAcknowledged());
        }
        return trouble.isEmpty() ? List.of() : List.of(trouble);
    }
}
