package dev.perdure.spi;

import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the limiters of steps for all engines together, and gives steps their permits.
 *
 * <p>A permit belongs to one attempt at the step at one position of a run. It is held while the run is {@code RUNNING}
 * under the epoch that took it and its journal has neither an answer at that position nor a note with the number of
 * that attempt. So the commit that records the attempt gives the permit back, and so does everything by which the run
 * leaves its worker.
 *
 * <p>An attempt that gets no permit waits in the line of the limiter, in the order of the requests, until its run has
 * ended, has begun anew or has recorded the attempt. When its turn comes, the store lets its run go on, as mail does
 * that the run waits for: see {@link dev.perdure.spi.change.Awaited#limiters()}. The permit is kept free for the run
 * for {@link #GRACE}. A run that does not ask by then, or that waits for something else when its turn comes, is passed
 * over until it asks again, and keeps its place in the line.
 */
public interface Permits {
    /** How long a permit is kept free for a run whose turn it is. */
    Duration GRACE = Duration.ofSeconds(10);

    /**
     * A request for a permit.
     *
     * @param limiter the limiter
     * @param run the run
     * @param epoch the epoch under which the worker holds the run
     * @param position the position of the step
     * @param attempt the number of the attempt, from 1
     */
    record Request(String limiter, RunRef run, long epoch, int position, int attempt) {}

    /** The answer to a request. */
    enum Answer {
        /** The attempt holds a permit. */
        HELD,
        /** It waits in the line, or the worker does not hold the run. */
        WAITS,
        /** No process has declared the limiter. */
        UNKNOWN,
        /** Its run is about to move to another shard, so it has got no place in the line. It has to ask again. */
        MOVING
    }

    /** What an operator does to a limiter. */
    sealed interface Order {
        /** The limiter. */
        String limiter();

        /** Changes the settings that this value has. */
        record Limit(Limiter changes) implements Order {
            @Override
            public String limiter() {
                return changes.name();
            }
        }

        /** Gives no permits. */
        record Pause(String limiter, String reason) implements Order {}

        /** Gives permits again. */
        record Resume(String limiter) implements Order {}

        /** Forgets all changes of settings. */
        record Reset(String limiter) implements Order {}
    }

    /**
     * Takes permits for attempts of runs that this worker holds. To ask again for a permit that the attempt holds is
     * answered with {@link Answer#HELD} and takes no other.
     *
     * @return an answer for each request, in their order
     */
    List<Answer> take(WorkerId worker, List<Request> requests);

    /**
     * Permits of these limiters may have become free: lets the runs go on whose turn it is. {@link Dispatch#poll} does
     * the same for all limiters, so this only saves time.
     */
    void next(Set<String> limiters);

    /** Stores what the code declares. What operators have changed stays. */
    void declare(Collection<Limiter> limiters);

    /** Carries an order out and records it in the audit, if an entry is given; says whether the limiter is known. */
    boolean apply(Order order, @Nullable Audit audit);

    /** Carries out an order without an entry in the audit. */
    default boolean apply(Order order) {
        return apply(order, null);
    }

    /** All known limiters, by name. */
    List<LimiterInfo> list();

    /** One limiter. */
    Optional<LimiterInfo> find(String limiter);
}
