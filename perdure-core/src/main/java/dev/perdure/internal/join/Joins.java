package dev.perdure.internal.join;

import dev.perdure.DurableFuture;
import dev.perdure.Settled;
import dev.perdure.error.InvalidRequestException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Joins the futures of one run. See the static methods of {@link DurableFuture}. */
public interface Joins {
    /** The values of all. */
    <T extends @Nullable Object> DurableFuture<List<T>> all(List<? extends DurableFuture<? extends T>> futures);

    /** How each settled. */
    <T extends @Nullable Object> DurableFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> futures);

    /** The index of the first to settle. */
    DurableFuture<Integer> any(List<? extends DurableFuture<?>> futures);

    /** The value of the first to settle. */
    <T extends @Nullable Object> DurableFuture<T> race(List<? extends DurableFuture<? extends T>> futures);

    /** The value of the first to succeed. */
    <T extends @Nullable Object> DurableFuture<T> firstSucceeded(List<? extends DurableFuture<? extends T>> futures);

    /**
     * The joins of the run that these futures belong to. Known futures belong to none.
     *
     * @throws InvalidRequestException if an engine has not made them
     */
    static Joins of(List<? extends DurableFuture<?>> futures) {
        for (DurableFuture<?> future : futures) {
            if (future instanceof Joinable ofRun) {
                return ofRun.joins();
            }
            if (!(future instanceof KnownFuture<?>)) {
                throw foreign();
            }
        }
        return new KnownJoins();
    }

    /** The exception for a future that does not belong to the run that joins it. */
    static InvalidRequestException foreign() {
        return new InvalidRequestException(
                "A future does not come from this context. Join only futures of the same run, and do not keep futures.");
    }

    /** See {@link DurableFuture#parallel}. */
    static <I extends @Nullable Object, T extends @Nullable Object> List<T> parallel(
            List<I> items, int atMost, Function<? super I, ? extends DurableFuture<? extends T>> begin) {
        if (atMost < 1) {
            throw new InvalidRequestException(
                    "parallel was called with a bound of %s; it is at least 1.".formatted(atMost));
        }
        return new Parallel<T>(atMost).over(items, begin);
    }
}
