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

/** Somebody who calls a virtual object and waits for the result, before the store knows of the call. */
public final class LocalCaller {
    private final NewRun run;
    private final Registered definition;
    private final Clockwork.Signal signal;
    private final AtomicReference<@Nullable Ride> ride = new AtomicReference<>();

    /** How often others were let go first. */
    private int overtaken;

    public LocalCaller(NewRun run, Registered definition, Clockwork clockwork) {
        this.run = run;
        this.definition = definition;
        this.signal = clockwork.signal();
    }

    /** How it went. */
    public sealed interface Ride {
        /**
         * The call was started and ended in one commit.
         *
         * @param ended how
         */
        record Arrived(Runs.Ended ended) implements Ride {}

        /**
         * The call was started, and is carried on like any other.
         *
         * @param run the run
         */
        record Stored(RunRef run) implements Ride {}

        /** Nothing of the call is in the store. */
        record LeftBehind() implements Ride {}

        /**
         * Nothing of the call is in the store, and others wait for it to be the first of the train.
         *
         * @param train that has to hear when the call was started
         */
        record GoesFirst(CallPipeline train) implements Ride {}
    }

    NewRun run() {
        return run;
    }

    Registered definition() {
        return definition;
    }

    /** His call as it is held from its start, under this key. */
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

    /** Others were let go first; gives how often that happened. */
    int overtaken() {
        return ++overtaken;
    }

    /** The first word counts; says whether this was it. */
    boolean settle(Ride how) {
        boolean first = ride.compareAndSet(null, how);
        if (first) {
            signal.raise();
        }
        return first;
    }

    /** Whether he does not wait any more. */
    boolean isGone() {
        return ride.get() != null;
    }

    Ride await() {
        while (true) {
            Ride how = ride.get();
            if (how != null) {
                return how;
            }
            try {
                signal.await(Clockwork.NEVER, Clockwork.NEVER);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                if (settle(new Ride.LeftBehind())) {
                    throw new ResultUnavailableException(
                            "The wait for the call '%s' was interrupted. It may have its turn all the same; look for the run with this id."
                                    .formatted(run.id()));
                }
            }
        }
    }
}
