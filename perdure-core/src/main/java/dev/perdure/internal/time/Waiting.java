package dev.perdure.internal.time;

import dev.perdure.spi.Clockwork;

/**
 * Waits of the engine's own threads. A stray interrupt, which user code may have left on a workflow's thread, neither
 * ends such a wait nor gets lost. It must not reach a socket either, so it is restored only after the wait.
 */
public final class Waiting {
    private Waiting() {}

    /** Waits until the flag is raised. */
    public static void forSignal(Clockwork.Signal signal) {
        until(signal, Clockwork.NEVER, Clockwork.NEVER);
    }

    /** Waits until the flag is raised or the time is over. The time is not a workflow's timer. */
    public static boolean housekeeping(Clockwork.Signal signal, long nanos) {
        return until(signal, Clockwork.NEVER, nanos);
    }

    /** Waits until the flag is raised, a workflow's timer ends, or housekeeping is due. */
    public static boolean until(Clockwork.Signal signal, long timerNanos, long housekeepingNanos) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return signal.await(timerNanos, housekeepingNanos);
                } catch (InterruptedException stray) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
