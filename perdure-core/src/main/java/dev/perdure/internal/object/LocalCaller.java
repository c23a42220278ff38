package dev.perdure.internal.object;

import dev.perdure.error.ResultUnavailableException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A caller in this process that waits for the result of its call of a virtual object, before the store knows the call.
 */
public final class LocalCaller {
    private final NewRun run;
    private final Registered definition;
    private final Clockwork.Signal signal;
    private final AtomicReference<@Nullable Reply> reply = new AtomicReference<>();

    /** How many batches with other calls went first. */
    private int passedOver;

    public LocalCaller(NewRun run, Registered definition, Clockwork clockwork) {
        this.run = run;
        this.definition = definition;
        this.signal = clockwork.signal();
    }

    /** The answer of the pipeline to the caller. */
    public sealed interface Reply {
        /**
         * One commit started and ended the call.
         *
         * @param ended how it ended
         */
        record Ended(Runs.Ended ended) implements Reply {}

        /**
         * The call was started, and a worker executes it like any other run.
         *
         * @param run the run
         */
        record Stored(RunRef run) implements Reply {}

        /** The store has nothing of the call: the caller starts it itself. */
        record NotStored() implements Reply {}

        /**
         * The store has nothing of the call. The caller starts it as the first call of the pipeline, and other callers
         * wait for that.
         *
         * @param pipeline the pipeline, which the caller tells when the start has returned
         */
        record StartFirst(CallPipeline pipeline) implements Reply {}
    }

    NewRun run() {
        return run;
    }

    Registered definition() {
        return definition;
    }

    /** The call as a worker holds it from its start, under this key. */
    Claimed claim(RunRef ref) {
        return new Claimed(
                ref,
                Outcome.Started.FIRST_EPOCH,
                run.definition(),
                run.input(),
                run.seed(),
                Control.NONE,
                null,
                0,
                List.of(),
                run.object(),
                Origin.of(run, null));
    }

    /** Another batch went first. Returns how many have. */
    int passedOver() {
        return ++passedOver;
    }

    /** Answers the caller. Only the first answer counts; returns whether this was the first. */
    boolean settle(Reply how) {
        boolean first = reply.compareAndSet(null, how);
        if (first) {
            signal.raise();
        }
        return first;
    }

    /** Whether the caller has its answer, or has given up. */
    boolean isSettled() {
        return reply.get() != null;
    }

    Reply await() {
        while (true) {
            Reply how = reply.get();
            if (how != null) {
                return how;
            }
            try {
                signal.await(Clockwork.NEVER, Clockwork.NEVER);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                if (settle(new Reply.NotStored())) {
                    throw new ResultUnavailableException(
                            "The wait for the call '%s' was interrupted. It may still be executed; look for the run with this id."
                                    .formatted(run.id()));
                }
            }
        }
    }
}
