package dev.perdure;

import dev.perdure.error.CancelledException;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Collects compensations for what a workflow has done, and runs them in reverse order. Each one is a durable step with
 * its own retries. They also run after a cancel.
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

    private record Compensation(String name, StepAction body, StepOptions options) {}

    /** A saga of the run with this context. */
    public Saga(WorkflowContext ctx) {
        Texts.requireGiven("context of the saga", ctx);
        this.ctx = ctx;
    }

    /**
     * Registers a compensation. Call it after the step that it undoes, if that step leaves nothing behind when it
     * fails. Otherwise call it before the step, with a body that does no harm when there is nothing to undo.
     */
    public void undo(String name, StepAction body) {
        undo(name, body, StepOptions.defaults());
    }

    /** {@link #undo(String, StepAction)} with options. */
    public void undo(String name, StepAction body, StepOptions options) {
        Names.require("name of the compensation", name, MAX_NAME);
        Texts.requireGiven("body of the compensation '" + name + "'", body);
        Texts.requireGiven("options value of the compensation '" + name + "'", options);
        compensations.push(new Compensation(name, body, options));
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
            ctx.step(compensation.name(), compensation.body(), compensation.options());
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
