package dev.perdure;

import dev.perdure.error.CancelledException;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RecordedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.undo.Undoable;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Collects compensations for what a workflow has done, and runs them in reverse order. Each one is a durable step, or a
 * transaction step, with its own retries. They also run after a cancel.
 *
 * <pre>{@code
 * Saga saga = new Saga(ctx);
 * try {
 *     String flight = ctx.step("book flight", () -> flights.book(trip));
 *     saga.undo("cancel flight", () -> flights.cancel(flight));
 *     ctx.step("pay", () -> bank.pay(trip));
 *     return flight;
 * } catch (RuntimeException failure) {
 *     throw saga.compensate(failure);
 * }
 * }</pre>
 *
 * <p>Use it only from the workflow's own thread, like its context.
 */
public final class Saga {
    private static final int MAX_NAME = 200;

    private final WorkflowContext ctx;
    private final Deque<Compensation> compensations = new ArrayDeque<>();
    /** The latest call when the saga was made, and when a compensation was registered last. */
    private final int begun;

    private int registered = -1;
    /** The first call that the compensations undo. */
    private int first = Integer.MAX_VALUE;

    /** Runs as a step or as a transaction step. */
    @FunctionalInterface
    private interface Compensation {
        void run();
    }

    /** A saga of the run with this context. */
    public Saga(WorkflowContext ctx) {
        Texts.requireGiven("context of the saga", ctx);
        this.ctx = ctx;
        this.begun = ctx instanceof Undoable run ? run.position() : 0;
    }

    /**
     * Registers a compensation. Call it right after the step that it undoes, if that step leaves nothing behind when it
     * fails. Otherwise call it before the step, with a body that does no harm when there is nothing to undo. A {@link
     * Run#fork fork} takes over no step before which, or behind which, a compensation was registered that has run.
     */
    public void undo(String name, StepAction body) {
        undo(name, body, StepOptions.defaults());
    }

    /** {@link #undo(String, StepAction)} with options. */
    public void undo(String name, StepAction body, StepOptions options) {
        require(name, body, options);
        register(() -> ctx.step(name, body, options));
    }

    /**
     * Registers a compensation that is a transaction step: its change of the application's own database takes effect
     * exactly once, as that of {@link WorkflowContext#transact(String, TransactionSource, TransactionAction)}.
     */
    public <C> void undo(String name, TransactionSource<C> source, TransactionAction<C> body) {
        undo(name, source, body, TransactionOptions.defaults());
    }

    /** {@link #undo(String, TransactionSource, TransactionAction)} with options. */
    public <C> void undo(
            String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options) {
        require(name, body, options);
        Texts.requireGiven("transaction source of the compensation '" + name + "'", source);
        register(() -> ctx.transact(name, source, body, options));
    }

    /** Of several that are registered behind one call, it is not known which steps they undo. */
    private void register(Compensation compensation) {
        compensations.push(compensation);
        if (ctx instanceof Undoable run) {
            int position = run.position();
            first = Math.min(first, position == registered ? begun + 1 : run.undoneNow(begun));
            registered = position;
        }
    }

    private static void require(String name, Object body, Object options) {
        Names.require("name of the compensation", name, MAX_NAME);
        Texts.requireGiven("body of the compensation '" + name + "'", body);
        Texts.requireGiven("options value of the compensation '" + name + "'", options);
    }

    /**
     * Runs the registered compensations, the last one first. If one fails, the others still run.
     *
     * @param failure why the workflow compensates
     * @return the exception to throw: the failure, or {@link CompensationFailedException} with the failure as its cause
     */
    public RuntimeException compensate(RuntimeException failure) {
        Texts.requireGiven("failure to compensate for", failure);
        List<StepFailedException> failed = new ArrayList<>();
        int count = compensations.size();
        if (count > 0 && ctx instanceof Undoable run) {
            run.undoes(first);
        }
        while (!compensations.isEmpty()) {
            try {
                run(compensations.pop());
            } catch (StepFailedException beyondUndoing) {
                failed.add(beyondUndoing);
            }
        }
        return failed.isEmpty() ? failure : collected(failed, count, failure);
    }

    /** Repeats the step if the cancel or the deadline is delivered into it. Each is delivered only once. */
    private void run(Compensation compensation) {
        try {
            compensation.run();
        } catch (CancelledException | DeadlineExceededException delivered) {
            run(compensation);
        }
    }

    private RuntimeException collected(List<StepFailedException> failed, int count, RuntimeException failure) {
        List<String> messages = failed.stream().map(Throwable::getMessage).toList();
        CompensationFailedException collected = new CompensationFailedException(
                "%s of %s compensations of run '%s' failed, after: %s Undo by hand what they should have: %s"
                        .formatted(failed.size(), count, ctx.runId(), sentence(failure), String.join(" ", messages)),
                failure);
        failed.forEach(collected::addSuppressed);
        return collected;
    }

    private static String sentence(RuntimeException failure) {
        String text = RecordedException.of(failure).toString();
        return text.endsWith(".") ? text : text + ".";
    }
}
