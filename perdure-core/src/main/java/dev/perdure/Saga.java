package dev.perdure;

import dev.perdure.error.CancelledException;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.text.Names;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Remembers how to undo what a workflow has done, and undoes it in reverse: durably, each as a step with its own retries, and
 * after a cancel as well.
 *
 * <pre>{@code
 * Saga saga = new Saga(ctx);
 * try {
 *     String flight = ctx.step("book flight", () -> flights.book(trip));
 *     saga.undo("cancel flight", () -> flights.cancel(flight));
 *     ctx.run("pay", () -> bank.pay(trip));
 *     return flight;
 * } catch (RuntimeException failure) {
 *     throw saga.compensate(failure);
 * }
 * }</pre>
 *
 * <p>Belongs to the workflow's own thread, as its context does.
 */
public final class Saga {
    private static final int MAX_NAME = 200;

    private final WorkflowContext ctx;
    private final Deque<Compensation> compensations = new ArrayDeque<>();

    private record Compensation(String name, StepAction body, StepOptions options) {}

    /** A saga of the run with this context. */
    public Saga(WorkflowContext ctx) {
        this.ctx = ctx;
    }

    /**
     * Registers a compensation. After the step that it undoes, if that step leaves nothing behind when it fails; before it, if
     * that cannot be known, with a body that does no harm when there is nothing to undo.
     */
    public void undo(String name, StepAction body) {
        undo(name, body, StepOptions.defaults());
    }

    /** {@link #undo(String, StepAction)} with options. */
    public void undo(String name, StepAction body, StepOptions options) {
        Names.require("name of the compensation", name, MAX_NAME);
        compensations.push(new Compensation(name, body, options));
    }

    /**
     * Runs what is registered, the last first. One that fails does not keep the others from running.
     *
     * @param failure why
     * @return what to throw: the failure, or {@link CompensationFailedException} with the failure as its cause
     */
    public RuntimeException compensate(RuntimeException failure) {
        List<StepFailedException> failed = new ArrayList<>();
        int count = compensations.size();
        while (!compensations.isEmpty()) {
            try {
                run(compensations.pop());
            } catch (StepFailedException beyondUndoing) {
                failed.add(beyondUndoing);
            }
        }
        return failed.isEmpty() ? failure : collected(failed, count, failure);
    }

    /** A cancel or the deadline may be delivered here, each once: what was to be undone still is. */
    private void run(Compensation compensation) {
        try {
            ctx.run(compensation.name(), compensation.body(), compensation.options());
        } catch (CancelledException | DeadlineExceededException delivered) {
            run(compensation);
        }
    }

    private RuntimeException collected(List<StepFailedException> failed, int count, RuntimeException failure) {
        List<String> messages = failed.stream().map(Throwable::getMessage).toList();
        CompensationFailedException collected = new CompensationFailedException(
                "%d of %d compensations of run '%s' failed, after: %s Undo by hand what they should have: %s"
                        .formatted(failed.size(), count, ctx.runId(), sentence(failure), String.join(" ", messages)),
                failure);
        failed.forEach(collected::addSuppressed);
        return collected;
    }

    private static String sentence(RuntimeException failure) {
        String text = failure.toString();
        return text.endsWith(".") ? text : text + ".";
    }
}
