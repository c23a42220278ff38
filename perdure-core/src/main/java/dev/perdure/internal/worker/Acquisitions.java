package dev.perdure.internal.worker;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The calls under way that may give runs to a session: ends that hand runs over, starts of runs that begin in this
 * worker's memory, and starts after which the store may hand calls of a virtual object over. From the commit of such a
 * call until its answer has arrived and its runs are launched, the store says that this worker holds the runs, and the
 * session does not know them. Only the answer distinguishes such a run from a run whose answer was lost. So the worker
 * treats a run as forgotten only when every call that was under way when it asked the store has ended: then no answer
 * can still launch the run.
 *
 * <p>Claims are not listed here, because the dispatcher, which looks for forgotten runs, makes them itself.
 */
final class Acquisitions {
    private final Set<Object> underWay = ConcurrentHashMap.newKeySet();
    private final Runnable whenOneIsOver;
    private volatile boolean awaited;

    /**
     * @param whenOneIsOver called when a call ends while {@link #areOver} is awaited
     */
    Acquisitions(Runnable whenOneIsOver) {
        this.whenOneIsOver = whenOneIsOver;
    }

    /**
     * Makes such a call.
     *
     * @param call sends it, and launches what its answer brings before it returns
     */
    <T> T during(Supplier<T> call) {
        Object place = new Object();
        underWay.add(place);
        try {
            return call.get();
        } finally {
            underWay.remove(place);
            if (awaited) {
                whenOneIsOver.run();
            }
        }
    }

    /** The calls that are under way now, for {@link #areOver}. */
    Set<Object> underWay() {
        return Set.copyOf(underWay);
    }

    /** Whether all of these calls have ended, without a report if not. */
    boolean haveEnded(Set<Object> calls) {
        return Collections.disjoint(calls, underWay);
    }

    /** Whether all of these calls have ended. If not, the callback reports when one ends. */
    boolean areOver(Set<Object> calls) {
        awaited = true;
        boolean over = Collections.disjoint(calls, underWay);
        awaited = !over;
        return over;
    }
}
