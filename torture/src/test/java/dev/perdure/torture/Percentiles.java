package dev.perdure.torture;

import java.util.List;

/** Values, and how many of a hundred are not larger. */
record Percentiles(List<Long> values) {
    Percentiles {
        values = values.stream().sorted().toList();
    }

    long of(int percent) {
        return values.get(Math.min(values.size() - 1, values.size() * percent / 100));
    }
}
