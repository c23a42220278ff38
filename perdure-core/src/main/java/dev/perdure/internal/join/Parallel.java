package dev.perdure.internal.join;

import dev.perdure.DurableFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Begins something for each item of a list, up to a number at a time. The journal records which one settled first, so a
 * replay begins the same next item.
 */
final class Parallel<T extends @Nullable Object> {
    private final int atMost;
    private final List<Integer> begun = new ArrayList<>();
    private final List<DurableFuture<? extends T>> open = new ArrayList<>();
    private final TreeMap<Integer, T> results = new TreeMap<>();

    Parallel(int atMost) {
        this.atMost = atMost;
    }

    <I extends @Nullable Object> List<T> over(
            List<I> items, Function<? super I, ? extends DurableFuture<? extends T>> begin) {
        int next = 0;
        while (results.size() < items.size()) {
            while (open.size() < atMost && next < items.size()) {
                open.add(begin.apply(items.get(next)));
                begun.add(next++);
            }
            int first = DurableFuture.any(open).await();
            DurableFuture<? extends T> settled = open.remove(first);
            int item = begun.get(first);
            begun.subList(first, first + 1).clear();
            results.put(item, settled.await());
        }
        return new ArrayList<>(results.values());
    }
}
