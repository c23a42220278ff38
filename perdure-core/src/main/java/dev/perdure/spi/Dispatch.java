package dev.perdure.spi;

import dev.perdure.RunChange;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives workers their work. One call answers everything that a worker needs to know, so that an idle worker asks
 * rarely.
 */
public interface Dispatch {
    /**
     * The version of a worker, and what follows from it for runs that are not pinned.
     *
     * @param name the version, or null
     * @param pinned the definitions whose runs the worker pins to its version when it takes them; empty if it has none
     * @param drained the definitions of which it takes no runs but those that are pinned to its version
     */
    record Version(@Nullable String name, Set<String> pinned, Set<String> drained) {
        /** A version that pins and drains nothing. */
        public static Version of(@Nullable String name) {
            return new Version(name, Set.of(), Set.of());
        }

        /** Whether the worker takes runs of this definition that are pinned to this version, or not pinned if null. */
        public boolean takes(String definition, @Nullable String version) {
            return version == null ? !drained.contains(definition) : version.equals(name);
        }

        /** To which version a run is pinned that the worker takes. */
        public @Nullable String pin(String definition, @Nullable String version) {
            return version == null && pinned.contains(definition) ? name : version;
        }
    }

    /**
     * The request of a worker.
     *
     * @param worker the worker
     * @param definitions the definitions that it can run
     * @param queues the queues from which it takes runs
     * @param version its version; it gets no runs that are pinned to another version
     * @param limit the number of runs to claim at most; 0 to ask for signals and timers only
     * @param aloneToo whether the worker holds no run, so that it may take a run that has to run alone
     * @param labels its labels, its id among them; it gets no runs whose placement they do not suit
     * @param ofQueues the number of runs to claim at most from some of the queues, where that is fewer than the limit
     */
    record Poll(
            WorkerId worker,
            Set<String> definitions,
            Set<String> queues,
            Version version,
            int limit,
            boolean aloneToo,
            Map<String, String> labels,
            Map<String, Integer> ofQueues) {
        /** The request of a worker that may take the same number of runs from each queue. */
        public Poll(
                WorkerId worker,
                Set<String> definitions,
                Set<String> queues,
                Version version,
                int limit,
                boolean aloneToo,
                Map<String, String> labels) {
            this(worker, definitions, queues, version, limit, aloneToo, labels, Map.of());
        }

        /** The request of a worker that pins nothing and has no labels but its id. */
        public Poll(
                WorkerId worker,
                Set<String> definitions,
                Set<String> queues,
                @Nullable String version,
                int limit,
                boolean aloneToo) {
            this(
                    worker,
                    definitions,
                    queues,
                    Version.of(version),
                    limit,
                    aloneToo,
                    Map.of(Requirement.WORKER, worker.value().toString()));
        }

        /** The same of a worker of this version. */
        public Poll as(Version other) {
            return new Poll(worker, definitions, queues, other, limit, aloneToo, labels, ofQueues);
        }

        /** The same for this many runs. */
        public Poll forAtMost(int runs, boolean orAlone) {
            return new Poll(worker, definitions, queues, version, runs, orAlone, labels, ofQueues);
        }

        /** The same with at most so many runs of these queues. */
        public Poll forAtMost(Map<String, Integer> runs) {
            return new Poll(worker, definitions, queues, version, limit, aloneToo, labels, runs);
        }

        /** The number of runs of a queue to claim at most. */
        public int limit(String queue) {
            return Math.min(limit, ofQueues.getOrDefault(queue, limit));
        }

        /** The same for these definitions. */
        public Poll of(Set<String> some) {
            return new Poll(worker, some, queues, version, limit, aloneToo, labels, ofQueues);
        }
    }

    /**
     * The answer to a worker.
     *
     * @param claimed the runs that the worker now holds
     * @param signalled runs that the worker held before and that were woken, with the requests for them
     * @param nextDue when the next waiting run is due, or null
     * @param aloneWaits whether a run waits for a worker that holds no other run
     * @param changed runs that the poll itself has moved: paused, because the store cannot take them from the queue and
     *     they would block others; or cancelled, because they did not begin in time
     * @param limited whether runs wait that the worker could run and only a limit holds back: when a run ends, another
     *     may take its place
     */
    record Polled(
            List<Claimed> claimed,
            List<Signalled> signalled,
            @Nullable Instant nextDue,
            boolean aloneWaits,
            List<RunChange> changed,
            boolean limited) {
        /** An answer of a poll that has moved no other runs, and without limits. */
        public Polled(List<Claimed> claimed, List<Signalled> signalled, @Nullable Instant nextDue, boolean aloneWaits) {
            this(claimed, signalled, nextDue, aloneWaits, List.of(), false);
        }
    }

    /**
     * A run that the worker now holds.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds it
     * @param definition the definition to run
     * @param input the encoded input
     * @param seed the seed of its generated ids and random numbers
     * @param control the requests for it
     * @param deadline when its timeout ends, or null
     * @param recoveries how often a sweep has recovered it without progress
     * @param premises how the tasks that it comes after ended, in their order; empty for a run that is no task
     * @param object the virtual object that it calls, or null
     * @param origin its queue and its headers
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
            @Nullable ObjectCall object,
            Origin origin) {
        /** After this many recoveries without progress, only a worker that holds no other run gets the run. */
        public static final int ALONE_AFTER = 3;

        /** After this many recoveries without progress, the store pauses the run. */
        public static final int PAUSED_AFTER = 10;

        /** Whether only a worker that holds no other run may run it. */
        public boolean alone() {
            return recoveries >= ALONE_AFTER;
        }
    }

    /**
     * A run that its worker has to look at.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds it
     * @param control the requests for it
     */
    record Signalled(RunRef run, long epoch, Control control) {}

    /**
     * Makes due runs ready, then claims runs by priority and age. A dead or unknown worker gets nothing. If the answer
     * is lost, {@link Leases#owned} still lists the claimed runs.
     */
    Polled poll(Poll request);
}
