package dev.perdure.spi;

import dev.perdure.RunChange;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where workers get their work. One call does everything a worker asks about, so that an idle one asks rarely. */
public interface Dispatch {
    /**
     * What a worker wants.
     *
     * @param worker who
     * @param definitions what it can run
     * @param queues where it looks
     * @param version its version, or null: runs pinned to another are left alone
     * @param limit at most this many runs; 0 to look for signals and timers only
     * @param aloneToo whether it holds nothing, so that it may take a run that has to run alone
     */
    record Poll(
            WorkerId worker,
            Set<String> definitions,
            Set<String> queues,
            @Nullable String version,
            int limit,
            boolean aloneToo) {}

    /**
     * What it gets.
     *
     * @param claimed runs it now holds
     * @param signalled runs it held before that were woken, with what is asked of them
     * @param nextDue when the next waiting run is due, or null
     * @param aloneWaits whether a run waits for a worker that holds nothing
     * @param paused runs that cannot be taken from the queue, and were paused so that they hold up no other
     */
    record Polled(
            List<Claimed> claimed,
            List<Signalled> signalled,
            @Nullable Instant nextDue,
            boolean aloneWaits,
            List<RunChange> paused) {
        /** Without runs that were paused. */
        public Polled(List<Claimed> claimed, List<Signalled> signalled, @Nullable Instant nextDue, boolean aloneWaits) {
            this(claimed, signalled, nextDue, aloneWaits, List.of());
        }
    }

    /**
     * A run that the worker now holds.
     *
     * @param run the run
     * @param epoch the epoch it holds it under
     * @param definition what to run
     * @param input with what
     * @param seed what its own ids and chances are derived from
     * @param control what has been asked of it
     * @param deadline when its timeout is delivered, or null
     * @param recoveries how often it was recovered without progress
     * @param premises how those ended that it comes after, in their order; empty for a run that is no task
     * @param object the virtual object that it is a call of, or null
     */
    record Claimed(
            RunRef run,
            long epoch,
            String definition,
            Payload input,
            long seed,
            Control control,
            @Nullable Instant deadline,
            int recoveries,
            List<Premise> premises,
            @Nullable ObjectCall object) {
        /** After this many recoveries without progress a run is only given to a worker that holds nothing else. */
        public static final int ALONE_AFTER = 3;

        /** After this many recoveries without progress a run is paused. */
        public static final int PAUSED_AFTER = 10;

        /** Whether it has to run alone. */
        public boolean alone() {
            return recoveries >= ALONE_AFTER;
        }
    }

    /**
     * A run that its worker should look at.
     *
     * @param run the run
     * @param epoch the epoch it is held under
     * @param control what is asked of it
     */
    record Signalled(RunRef run, long epoch, Control control) {}

    /**
     * Makes due runs ready, then claims by priority and age. A dead or unknown worker gets nothing. A claim whose answer
     * was lost shows in {@link Leases#owned}.
     */
    Polled poll(Poll request);
}
