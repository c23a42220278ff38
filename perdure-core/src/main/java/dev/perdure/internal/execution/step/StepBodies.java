package dev.perdure.internal.execution.step;

import dev.perdure.Attempt;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.BodyGuard;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.interception.LoggingContext;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.report.StepLog;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs the bodies of a run's attempts, each on the thread that asks for it: the run's own one, or one beside it. Knows which
 * attempt runs on which thread.
 */
public final class StepBodies {
    private final HeldRun held;
    private final Host host;
    private final Transitions transitions;
    private final BodyGuard guard;
    private final Values values;
    private final @Nullable WorkflowCall entered;
    private final Thread own = Thread.currentThread();
    /** Made for the first body beside the run's own thread, under the lock of the guard, because most runs have none. */
    private volatile @Nullable Map<Thread, Attempt> onOtherThreads;

    // Only the workflow's own thread reads and writes it.
    private @Nullable Attempt onOwnThread;

    /**
     * The bodies of a run.
     *
     * @param entered what interceptors are told of the run, or null if there are none to tell
     */
    public StepBodies(
            HeldRun held,
            Host host,
            Transitions transitions,
            BodyGuard guard,
            Values values,
            @Nullable WorkflowCall entered) {
        this.held = held;
        this.host = host;
        this.transitions = transitions;
        this.guard = guard;
        this.values = values;
        this.entered = entered;
    }

    /** The attempt that runs on this thread. */
    public Optional<Attempt> current() {
        Thread thread = Thread.currentThread();
        if (thread.equals(own)) {
            return Optional.ofNullable(onOwnThread);
        }
        Map<Thread, Attempt> beside = onOtherThreads;
        return Optional.ofNullable(beside == null ? null : beside.get(thread));
    }

    private void current(@Nullable Attempt attempt) {
        Thread thread = Thread.currentThread();
        if (thread.equals(own)) {
            onOwnThread = attempt;
        } else if (attempt == null) {
            besides().remove(thread);
        } else {
            besides().put(thread, attempt);
        }
    }

    private Map<Thread, Attempt> besides() {
        guard.lock().lock();
        try {
            Map<Thread, Attempt> all = onOtherThreads == null ? new ConcurrentHashMap<>() : onOtherThreads;
            onOtherThreads = all;
            return all;
        } finally {
            guard.lock().unlock();
        }
    }

    /** The body with the interceptors around it. Only the thread of the workflow asks for it. */
    public <T extends @Nullable Object> Callable<T> intercepted(
            ContextCall call, RunningAttempt attempt, Callable<T> body) {
        if (entered == null || !isStep(call)) {
            return body;
        }
        StepCall intercepted = new StepCall(entered, call.name(), attempt.number());
        return host.rules().interceptors().step(intercepted, () -> attempt.call(body));
    }

    private static boolean isStep(ContextCall call) {
        return call.kind() == Entry.Kind.STEP || call.kind() == Entry.Kind.TRANSACTION;
    }

    /** Runs the body once, on this thread. */
    public Values.Stored run(ContextCall call, RunningAttempt attempt, Type type, Callable<?> body) throws Exception {
        current(attempt);
        StepLog.open(attempt);
        long began = host.clockwork().nanoTime();
        boolean succeeded = false;
        boolean logs = isStep(call);
        boolean counts = logs;
        boolean beside = !Thread.currentThread().equals(own);
        try {
            if (logs) {
                openLog(call, attempt, beside);
            }
            @Nullable Object result = attempt.run(() -> interruptible(attempt, body));
            Values.Stored stored = valuesOf(call).store(result, type, "the result of " + call.describe());
            succeeded = true;
            return stored;
        } catch (BodyGuard.Interrupted interrupted) {
            counts &= interrupted.why() == BodyGuard.Cause.TIMEOUT; // Otherwise it is not a failed attempt.
            throw interrupted;
        } finally {
            if (logs) {
                closeLog(beside);
            }
            StepLog.close();
            current(null);
            attempt.end();
            if (counts) {
                measure(succeeded, began);
            }
        }
    }

    /**
     * Calls the body of an attempt. From here on it can be interrupted. A request for the run that came since its thread has
     * last obeyed, such as while it wrote something or waited for a permit, has interrupted nothing, so it is looked for now.
     */
    private @Nullable Object interruptible(RunningAttempt attempt, Callable<?> body) throws Exception {
        BodyGuard.Cause asked = transitions.interrupting();
        if (asked != null) {
            attempt.guard().interrupt(asked);
            throw new InterruptedException();
        }
        Runnable disarm = transitions.deadline().arm(attempt.guard());
        try {
            return body.call();
        } finally {
            disarm.run();
        }
    }

    /** The body of this attempt begins on this thread: the run's own one, or one beside it. */
    private void openLog(ContextCall call, RunningAttempt attempt, boolean beside) {
        LoggingContext logging = logging();
        if (beside) {
            logging.enter(transitions.run(), transitions.definition(), host.workerName());
        }
        logging.enterStep(call.name(), attempt.number());
    }

    private void closeLog(boolean beside) {
        LoggingContext logging = logging();
        logging.leaveStep();
        if (beside) {
            logging.leave();
        } else {
            logging.restore(transitions.run(), transitions.definition(), host.workerName());
        }
    }

    private LoggingContext logging() {
        return host.rules().interceptors().logging(transitions.definition());
    }

    private void measure(boolean succeeded, long began) {
        host.rules()
                .measurements()
                .attempted(
                        transitions.definition(),
                        held.origin().queue(),
                        succeeded,
                        host.clockwork().nanoTime() - began);
    }

    /** The result of an attempt on another thread, which the run's own thread records now, maybe long after. */
    public Values.Stored kept(ContextCall call, Values.Stored stored, Type type) {
        return valuesOf(call).kept(stored, type, "the result of " + call.describe());
    }

    /**
     * The result of a transaction step stays in place, because it is part of the application's transaction: nothing is
     * written outside of that, and no second connection is needed while it is open.
     */
    private Values valuesOf(ContextCall call) {
        Values here = values.at(call.position());
        return call.kind() == Entry.Kind.TRANSACTION ? here.inline() : here;
    }
}
