package dev.perdure.internal.object;

import dev.perdure.error.ResultUnavailableException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A caller in this process that waits for the result of its call of a virtual object, before the store knows the call. */
public final class LocalCaller {
    private final NewRun run;
    private final Registered definition;
    private final Clockwork.Signal signal;
    private final AtomicReference<@Nullable Reply> reply = new AtomicReference<>();

    /** How many batches of other calls went first. */
    private int passedOver;

    public LocalCaller(NewRun run, Registered definition, Clockwork clockwork) {
        this.run = run;
        this.definition = definition;
        this.signal = clockwork.signal();
    }

    /** What the pipeline answers the caller. */
    public sealed interface Reply {
        /**
         * The call was started and ended in one commit.
         *
         * @param ended how
         */
        record Ended(Runs.Ended ended) implements Reply {}

        /**
         * The call was started, and is executed like any other run.
         *
         * @param run the run
         */
        record Stored(RunRef run) implements Reply {}

        /** Nothing of the call is in the store: the caller starts it itself. */
        record NotStored() implements Reply {}

        /**
         * Nothing of the call is in the store. The caller starts it as the first of the pipeline, for which other callers wait.
         *
         * @param pipeline to be told when the start has returned
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
                run.object());
    }

    /** Another batch went first; returns how many have. */
    int passedOver() {
        return ++passedOver;
    }

    /** Answers the caller; only the first answer counts. Says whether this was it. */
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
                            "The wait for the call '%s' was interrupted. It may have its turn all the same; look for the run with this id."
                                    .formatted(run.id()));
                }
            }
        }
    }
}
