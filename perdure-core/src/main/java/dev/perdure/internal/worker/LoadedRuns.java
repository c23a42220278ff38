package dev.perdure.internal.worker;

import dev.perdure.RunId;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.execution.host.LoadedRun;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/** The runs that a session has in memory, and the places that are taken: by these and by runs that are on their way. */
final class LoadedRuns {
    private final Map<Long, Execution> executions = new ConcurrentHashMap<>();
    /** Executions that have left memory, and whose code does not end. */
    private final Set<LoadedRun> kept = ConcurrentHashMap.newKeySet();

    private final Set<RunId> starting = ConcurrentHashMap.newKeySet();
    /** Under it, places are counted and kept in one go. */
    private final ReentrantLock places = new ReentrantLock();
    /** How many places are kept for runs that a claim under way may bring. */
    private int placesKept;

    // ---- places

    /** How many places are taken: by the runs in memory, and for those that calls under way may bring. */
    int size() {
        places.lock();
        try {
            // In this order: a run is in memory before its place is no longer kept.
            return placesKept + starting.size() + executions.size();
        } finally {
            places.unlock();
        }
    }

    /**
     * Keeps the free places for the runs that a claim may bring, so that no other run takes them before they are in
     * memory.
     *
     * @param maxRuns how many places the session has
     * @param most how many places to keep at most
     * @return how many are kept, until {@link #freePlaces}
     */
    int keepPlaces(int maxRuns, int most) {
        places.lock();
        try {
            int count = Math.clamp((long) maxRuns - size(), 0, most);
            placesKept += count;
            return count;
        } finally {
            places.unlock();
        }
    }

    /** Keeps this many places no longer. */
    void freePlaces(int count) {
        places.lock();
        try {
            placesKept -= count;
        } finally {
            places.unlock();
        }
    }

    /** Counts a run that is about to be started here as in memory. Returns whether it was not counted before. */
    boolean expect(RunId run) {
        return starting.add(run);
    }

    /**
     * As {@link #expect(RunId)} if there is room for this many runs.
     *
     * @param room tells how many more runs the session may hold; it counts those that are here
     */
    boolean expectIfRoom(RunId run, int runs, IntSupplier room) {
        places.lock();
        try {
            return room.getAsInt() >= runs && expect(run);
        } finally {
            places.unlock();
        }
    }

    /** Stops counting a run that was expected. */
    void unexpect(RunId run) {
        starting.remove(run);
    }

    // ---- what is in memory

    boolean isEmpty() {
        return executions.isEmpty() && starting.isEmpty();
    }

    /** Whether this run is in memory, or about to be started here. An execution that was discarded is not the run any more. */
    boolean holds(RunRef run) {
        Execution execution = executions.get(run.key());
        return execution != null && !execution.isDiscarded() || starting.contains(run.id());
    }

    Collection<Execution> executions() {
        return executions.values();
    }

    Optional<Execution> execution(RunRef run, long epoch) {
        return Optional.ofNullable(executions.get(run.key())).filter(execution -> execution.epoch() == epoch);
    }

    /** How many of a queue are in memory. */
    int of(String queue) {
        return (int) executions.values().stream()
                .filter(execution -> execution.queue().equals(queue))
                .count();
    }

    /** How many are in the body of a step. */
    long inBodies() {
        return executions.values().stream().filter(Execution::isInBody).count();
    }

    /** Passes on that mail has arrived. Returns whether the store need not be asked. */
    boolean mailed(Hints.MailArrived mail) {
        Execution execution = executions.get(mail.run());
        return execution != null && execution.epoch() == mail.epoch() && execution.mailed(mail);
    }

    // ---- how they come and go

    /**
     * Takes an execution in, if it replaces the ones before it: at most one execution of a run may write. An execution
     * under an earlier epoch has lost the run in the store, and loses what it had. An execution that ran ahead and was
     * discarded has nothing. Returns whether it is in memory now.
     */
    boolean add(Execution execution) {
        while (true) {
            Execution before = executions.putIfAbsent(execution.ref().key(), execution);
            if (before == null) {
                return true;
            }
            if (!execution.follows(before)) {
                return false;
            }
            if (executions.replace(execution.ref().key(), before, execution)) {
                before.lose();
                return true;
            }
        }
    }

    /** An execution has left memory. */
    void remove(LoadedRun execution) {
        executions.remove(execution.ref().key(), execution);
    }

    /** An execution has left memory, and its code does not end: it is told when the session is over. */
    void keep(LoadedRun execution) {
        kept.add(execution);
    }

    /** All runs, at their next call or wait, leave memory and are given back. */
    void giveBack() {
        executions.values().forEach(Execution::giveBack);
    }

    /** The session has lost all runs: they write nothing more. */
    void lose() {
        executions.values().forEach(Execution::lose);
        kept.forEach(LoadedRun::lose);
    }

    /** The same for some of them. Returns how many. */
    int lose(Predicate<RunId> lost) {
        List<Execution> gone = executions.values().stream()
                .filter(execution -> lost.test(execution.ref().id()))
                .toList();
        gone.forEach(Execution::lose);
        return gone.size();
    }
}
