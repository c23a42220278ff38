package dev.perdure.internal.join;

import dev.perdure.DurableFuture;
import dev.perdure.Settled;
import dev.perdure.error.InvalidRequestException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Joins futures of which all are {@linkplain KnownFuture known}, or none. */
final class KnownJoins implements Joins {
    @Override
    public <T extends @Nullable Object> DurableFuture<List<T>> all(List<? extends DurableFuture<? extends T>> futures) {
        return new KnownFuture<List<T>>(() -> {
            List<T> values = new ArrayList<>();
            futures.forEach(future -> values.add(future.await()));
            return values;
        });
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> futures) {
        return new KnownFuture<List<Settled<T>>>(() -> {
            List<Settled<T>> settled = new ArrayList<>();
            futures.forEach(future -> settled.add(KnownJoins.<T>settled(future)));
            return settled;
        });
    }

    @Override
    public DurableFuture<Integer> any(List<? extends DurableFuture<?>> futures) {
        requireSome(futures);
        return new KnownFuture<Integer>(() -> 0);
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> race(List<? extends DurableFuture<? extends T>> futures) {
        requireSome(futures);
        return new KnownFuture<T>(() -> futures.getFirst().await());
    }

    @Override
    public <T extends @Nullable Object> DurableFuture<T> firstSucceeded(
            List<? extends DurableFuture<? extends T>> futures) {
        requireSome(futures);
        return new KnownFuture<T>(() -> futures.stream()
                .<DurableFuture<? extends T>>map(future -> future)
                .filter(future -> settled(future).succeeded())
                .findFirst()
                .orElseGet(futures::getLast)
                .await());
    }

    private static <T extends @Nullable Object> Settled<T> settled(DurableFuture<? extends T> future) {
        if (!(future instanceof KnownFuture<? extends T> known)) {
            throw Joins.foreign();
        }
        Settled<? extends T> settled = known.settled();
        return new Settled<>(settled.value(), settled.failure());
    }

    private static void requireSome(List<?> futures) {
        if (futures.isEmpty()) {
            throw new InvalidRequestException("There are no futures to wait for. Give at least one.");
        }
    }
}
