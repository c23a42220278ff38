package dev.perdure.torture.soak;

import java.util.List;

/**
 * What was measured again and again.
 *
 * <p>The first third of the samples is for warming up: caches fill, and retention removes nothing yet. The figure grows
 * if the median of the last third is above that of the second by more than its unit allows. A figure that rises with
 * time from nothing has risen by two thirds then; medians forgive single samples.
 *
 * @param values in the order in which they were measured
 */
record Figure(String name, Unit unit, List<Long> values) {
    Figure {
        values = List.copyOf(values);
    }

    /** The median of the second third. */
    long before() {
        return median(values.subList(values.size() / 3, values.size() * 2 / 3));
    }

    /** The median of the last third. */
    long after() {
        return median(values.subList(values.size() * 2 / 3, values.size()));
    }

    /** Whether it is larger at the end than it may be. */
    boolean grows() {
        return after() > unit.most(before());
    }

    /** One line of a table. */
    String text() {
        return "%-44s %14s %14s %14s   %s"
                .formatted(
                        name,
                        unit.text(values.getFirst()),
                        unit.text(before()),
                        unit.text(after()),
                        grows() ? "GROWS" : "flat");
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
