package dev.perdure.internal.worker;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The calls under way by which a session may be given runs: ends that hand runs over, starts of runs that are born owned, and what
 * lets calls of a virtual object begin that may be handed over before they have begun.
 * From the commit of such a call until its answer is here and its runs are launched, the store says that this worker holds them
 * and the session does not know them. Nothing but the answer tells such a run from one whose answer was lost, so a run is taken
 * for forgotten only when every call that was under way when the store was asked is over: then no answer can launch it any more.
 *
 * <p>Claims need no place here: the dispatcher, which looks for forgotten runs, makes them itself.
 */
final class Acquisitions {
    private final Set<Object> underWay = ConcurrentHashMap.newKeySet();
    private final Runnable whenOneIsOver;
    private volatile boolean awaited;

    /** @param whenOneIsOver told of calls that end while {@link #areOver} is awaited */
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

    /** Whether all of these are over. If not, it is told when one is. */
    boolean areOver(Set<Object> calls) {
        awaited = true;
        boolean over = Collections.disjoint(calls, underWay);
        awaited = !over;
        return over;
    }
}
