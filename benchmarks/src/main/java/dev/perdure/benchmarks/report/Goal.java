package dev.perdure.benchmarks.report;

import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * A performance goal, computed from the figures of one run.
 *
 * @param what a description
 * @param atLeast whether the limit is a minimum; otherwise it is a maximum
 * @param seen computes the number, if all its figures were measured
 */
record Goal(String what, boolean atLeast, double limit, Function<Figures, OptionalDouble> seen) {
    static Goal atLeast(double limit, String what, Function<Figures, OptionalDouble> seen) {
        return new Goal(what, true, limit, seen);
    }

    static Goal atMost(double limit, String what, Function<Figures, OptionalDouble> seen) {
        return new Goal(what, false, limit, seen);
    }

    boolean reachedBy(double value) {
        return atLeast ? value >= limit : value <= limit;
    }

    /** The figure itself. */
    static Function<Figures, OptionalDouble> value(String contender, String metric) {
        return figures -> figures.find(contender, metric).map(Figure::median).stream()
                .mapToDouble(Double::doubleValue)
                .findFirst();
    }

    /** The first divided by the second. */
    static Function<Figures, OptionalDouble> ratio(
            Function<Figures, OptionalDouble> dividend, Function<Figures, OptionalDouble> divisor) {
        return figures -> {
            OptionalDouble above = dividend.apply(figures);
            OptionalDouble below = divisor.apply(figures);
            return above.isPresent() && below.isPresent()
                    ? OptionalDouble.of(above.getAsDouble() / below.getAsDouble())
                    : OptionalDouble.empty();
        };
    }
}
