package dev.perdure.bulk;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What encrypting all values anew has done: the result of its run.
 *
 * @param key the id of the key that all values should have now
 * @param replaced how many values were encrypted anew. After a crash it may be fewer than there were
 * @param left how many values the last pass over all values has found that other keys encrypt, by the ids of these
 *     keys. If it is empty, no value needs another key than this one
 * @param reasons why values are left, {@link #MOST_REASONS} at most
 */
public record ReencryptionReport(String key, long replaced, Map<String, Long> left, List<String> reasons) {
    /** How many reasons a report lists. */
    public static final int MOST_REASONS = 100;

    /** Copies map and list. */
    public ReencryptionReport {
        left = Map.copyOf(left);
        reasons = List.copyOf(reasons);
    }

    /** The report of a pass that begins now. */
    public static ReencryptionReport none(String key) {
        return new ReencryptionReport(key, 0, Map.of(), List.of());
    }

    /** Both reports together. */
    public ReencryptionReport plus(ReencryptionReport next) {
        Map<String, Long> sum = new TreeMap<>(left);
        next.left.forEach((id, values) -> sum.merge(id, values, Long::sum));
        List<String> first = new ArrayList<>(reasons);
        next.reasons.stream().limit(MOST_REASONS - first.size()).forEach(first::add);
        return new ReencryptionReport(key, replaced + next.replaced, sum, first);
    }

    /** Such as {@code 120 values encrypted anew with key '2026'; left: 2 of key '2025'}. */
    @Override
    public String toString() {
        String others = new TreeMap<>(left)
                .entrySet().stream()
                        .map(each -> "%s of key '%s'".formatted(each.getValue(), each.getKey()))
                        .collect(Collectors.joining(", "));
        return "%s values encrypted anew with key '%s'; left: %s"
                .formatted(replaced, key, others.isEmpty() ? "none" : others);
    }
}
