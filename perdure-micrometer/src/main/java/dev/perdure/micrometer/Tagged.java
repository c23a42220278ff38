package dev.perdure.micrometer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * The meters of one name by the values of two tags. A lookup allocates nothing, other than that of a registry, which
 * makes an id each time.
 */
final class Tagged<M> {
    private final Map<String, Map<String, M>> meters = new ConcurrentHashMap<>();
    private final BiFunction<String, String, M> make;

    Tagged(BiFunction<String, String, M> make) {
        this.make = make;
    }

    M get(String first, String second) {
        Map<String, M> some = meters.get(first);
        M meter = some == null ? null : some.get(second);
        return meter == null
                ? meters.computeIfAbsent(first, none -> new ConcurrentHashMap<>())
                        .computeIfAbsent(second, none -> make.apply(first, second))
                : meter;
    }
}
