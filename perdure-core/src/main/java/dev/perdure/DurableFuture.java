package dev.perdure;

import dev.perdure.error.PerdureException;
import dev.perdure.error.TimedOutException;
import dev.perdure.internal.join.Joins;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something that a workflow has begun and can wait for: a parallel step, a timer, a child, a message, a promise or an
 * awakeable. A long wait holds neither a thread nor heap, whether the workflow waits for one future or for several
 * joined ones. Use it only from the workflow's own thread, like its context.
 *
 * <pre>{@code
 * var hotel = ctx.stepAsync("hotel", () -> hotels.book(trip));
 * var flight = ctx.stepAsync("flight", () -> flights.book(trip));
 * List<String> bookings = DurableFuture.all(List.of(hotel, flight)).await();
 * }</pre>
 *
 * <p>Joins take only futures of the same run. {@link #all} and {@link #allSettled} of no futures have an empty list as
 * their value; the other joins take at least one future.
 *
 * @param <T> the type of its value
 */
public interface DurableFuture<T extends @Nullable Object> {
    /**
     * Waits for the value. Calling it again returns the same value.
     *
     * @throws PerdureException if it failed; every replay throws the same exception
     */
    T await();

    /**
     * Waits for the value, at most this long. The step, child or wait behind this future continues after that.
     *
     * @return its value; empty if it has not settled in time, or if the value is {@code null}
     * @throws PerdureException if it failed; every replay throws the same exception
     */
    Optional<T> await(Duration limit);

    /**
     * A future of the value that this function returns. Every replay calls the function again, so it must return the
     * same value each time and have no side effects.
     */
    <R extends @Nullable Object> DurableFuture<R> map(Function<? super T, ? extends R> function);

    /**
     * A future that fails with {@link TimedOutException} unless this one settles within the limit, counted from this
     * call. The timeout does not stop the step, child or wait behind this future.
     */
    DurableFuture<T> orTimeout(Duration limit);

    /**
     * The values of all futures; of none, an empty list. Fails with the first failure; the other futures continue.
     */
    static <T extends @Nullable Object> DurableFuture<List<T>> all(List<? extends DurableFuture<? extends T>> futures) {
        Texts.requireGiven("list of futures", futures);
        return Joins.of(futures).all(futures);
    }

    /** How each of the futures settled, when all have settled; of none, an empty list. Never fails. */
    static <T extends @Nullable Object> DurableFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> futures) {
        Texts.requireGiven("list of futures", futures);
        return Joins.of(futures).allSettled(futures);
    }

    /** The index in the list of the future that settles first; a failure counts. */
    static DurableFuture<Integer> any(List<? extends DurableFuture<?>> futures) {
        Texts.requireGiven("list of futures", futures);
        return Joins.of(futures).any(futures);
    }

    /** The index, from 0, of the future that settles first; a failure counts. */
    static DurableFuture<Integer> any(DurableFuture<?> first, DurableFuture<?>... others) {
        Texts.requireGiven("list of futures", others);
        Texts.requireGiven("first future", first);
        List<DurableFuture<?>> all = new ArrayList<>(List.of(others));
        all.addFirst(first);
        return any(all);
    }

    /** The value or the failure of the future that settles first. */
    static <T extends @Nullable Object> DurableFuture<T> race(List<? extends DurableFuture<? extends T>> futures) {
        Texts.requireGiven("list of futures", futures);
        return Joins.of(futures).race(futures);
    }

    /**
     * The value of the future that succeeds first. If none succeeds, fails with the failure of the last future in the
     * list.
     */
    static <T extends @Nullable Object> DurableFuture<T> firstSucceeded(
            List<? extends DurableFuture<? extends T>> futures) {
        Texts.requireGiven("list of futures", futures);
        return Joins.of(futures).firstSucceeded(futures);
    }

    /**
     * Begins something for each item, with a limit on how many of them are open at a time, and waits for all.
     *
     * <pre>{@code
     * List<Integer> sizes = DurableFuture.parallel(photos, 8, photo -> ctx.stepAsync("resize", () -> resize(photo)));
     * }</pre>
     *
     * @param atMost the limit, at least 1
     * @return the results in the order of the items
     * @throws PerdureException the first failure; nothing more is begun after it
     */
    static <I extends @Nullable Object, T extends @Nullable Object> List<T> parallel(
            List<I> items, int atMost, Function<? super I, ? extends DurableFuture<? extends T>> begin) {
        Texts.requireGiven("function that begins an item", begin);
        Texts.requireGiven("list of items", items);
        return Joins.parallel(items, atMost, begin);
    }
}
