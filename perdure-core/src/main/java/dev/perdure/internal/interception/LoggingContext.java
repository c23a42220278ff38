package dev.perdure.internal.interception;

import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.helpers.NOPMDCAdapter;

/**
 * Puts into the MDC which run, which step and which attempt a thread works for, so that every line that code logs there
 * has it. Removes it when the code has ended or its run leaves memory.
 */
final class LoggingContext implements Interceptor {
    private static final String RUN = "perdure.run";
    private static final String DEFINITION = "perdure.definition";
    private static final String WORKER = "perdure.worker";
    private static final String STEP = "perdure.step";
    private static final String ATTEMPT = "perdure.attempt";

    /** Whether the logging library has an MDC. */
    static boolean isUseful() {
        return !(MDC.getMDCAdapter() instanceof NOPMDCAdapter);
    }

    @Override
    public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
        return () -> {
            put(call);
            try {
                return code.call();
            } finally {
                remove();
            }
        };
    }

    @Override
    public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
        Thread ofRun = Thread.currentThread();
        return () -> {
            boolean onThreadOfRun = ofRun.equals(Thread.currentThread());
            if (!onThreadOfRun) {
                put(call.workflow());
            }
            MDC.put(STEP, call.step());
            MDC.put(ATTEMPT, String.valueOf(call.attempt()));
            try {
                return body.call();
            } finally {
                MDC.remove(STEP);
                MDC.remove(ATTEMPT);
                if (!onThreadOfRun) {
                    remove();
                } else if (MDC.get(RUN) == null) { // The body has cleared it.
                    put(call.workflow());
                }
            }
        };
    }

    private static void put(WorkflowCall call) {
        MDC.put(RUN, call.run().value());
        MDC.put(DEFINITION, call.definition());
        MDC.put(WORKER, call.worker());
    }

    private static void remove() {
        MDC.remove(RUN);
        MDC.remove(DEFINITION);
        MDC.remove(WORKER);
    }
}
