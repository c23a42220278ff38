package dev.perdure.internal.time;

import dev.perdure.spi.Clockwork;

/**
 * Waits of the engine's own threads. A stray interrupt, which a user's code may have left on a workflow's thread, neither
 * ends them nor gets lost: it must not reach a socket either, so it is put back only after the wait.
 */
public final class Waiting {
    private Waiting() {}

    /** Until it is raised. */
    public static void forSignal(Clockwork.Signal signal) {
        until(signal, Clockwork.NEVER, Clockwork.NEVER);
    }

    /** Until it is raised or the time is over, which is no workflow's timer. */
    public static boolean housekeeping(Clockwork.Signal signal, long nanos) {
        return until(signal, Clockwork.NEVER, nanos);
    }

    /** Until it is raised, a workflow's timer ends, or it is time to keep house. */
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
