package dev.perdure.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The first of some values: at least one, if there is one, and then as many as fit into a number of bytes.
 *
 * @param values the values
 * @param last whether none follows
 */
record FittingPage<T>(List<T> values, boolean last) {
    static <T> FittingPage<T> of(Collection<T> following, ToLongFunction<T> size, int limit, int maxBytes) {
        List<T> page = new ArrayList<>();
        long bytes = 0;
        for (T each : following) {
            bytes += size.applyAsLong(each);
            if (page.size() == limit || (bytes > maxBytes && !page.isEmpty())) {
                return new FittingPage<>(page, false);
            }
            page.add(each);
        }
        return new FittingPage<>(page, true);
    }
}
