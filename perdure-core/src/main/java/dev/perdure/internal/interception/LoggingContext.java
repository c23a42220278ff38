package dev.perdure.internal.interception;

import dev.perdure.RunId;
import org.slf4j.MDC;
import org.slf4j.helpers.NOPMDCAdapter;

/**
 * Puts into the MDC which run, which step and which attempt a thread works for, so that every line that code logs there
 * has it. Removes it when the code has ended or its run leaves memory. It is no interceptor, because what an interceptor
 * puts around code stays in memory as long as the code runs.
 */
public final class LoggingContext {
    /** Puts nothing anywhere. */
    static final LoggingContext NONE = new LoggingContext(false);

    private static final String RUN = "perdure.run";
    private static final String DEFINITION = "perdure.definition";
    private static final String WORKER = "perdure.worker";
    private static final String STEP = "perdure.step";
    private static final String ATTEMPT = "perdure.attempt";

    private final boolean used;

    private LoggingContext(boolean used) {
        this.used = used;
    }

    /** Uses the MDC if the logging library has one. */
    static LoggingContext ofLibrary() {
        return MDC.getMDCAdapter() instanceof NOPMDCAdapter ? NONE : new LoggingContext(true);
    }

    /** This thread begins to work for a run. */
    public void enter(RunId run, String definition, String worker) {
        if (used) {
            MDC.put(RUN, run.value());
            MDC.put(DEFINITION, definition);
            MDC.put(WORKER, worker);
        }
    }

    /** Puts it there again if the body of a step has cleared it. */
    public void restore(RunId run, String definition, String worker) {
        if (used && MDC.get(RUN) == null) {
            enter(run, definition, worker);
        }
    }

    /** This thread works for the run no longer. */
    public void leave() {
        if (used) {
            MDC.remove(RUN);
            MDC.remove(DEFINITION);
            MDC.remove(WORKER);
        }
    }

    /** The body of a step begins on this thread. */
    public void enterStep(String step, int attempt) {
        if (used) {
            MDC.put(STEP, step);
            MDC.put(ATTEMPT, attempt == 1 ? "1" : String.valueOf(attempt)); // nearly all are the first
        }
    }

    /** The body has ended. */
    public void leaveStep() {
        if (used) {
            MDC.remove(STEP);
            MDC.remove(ATTEMPT);
        }
    }
}
