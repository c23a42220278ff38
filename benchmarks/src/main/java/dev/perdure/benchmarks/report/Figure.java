package dev.perdure.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.Locale;

/**
 * One measured figure: the median of its rounds, with the least and the most of them.
 *
 * @param who whose
 * @param metric such as {@code w1.c64}
 * @param rounds how many were measured
 */
public record Figure(String who, String metric, Unit unit, double median, double least, double most, int rounds) {
    /** From what each round gave. */
    public static Figure of(String who, String metric, Unit unit, double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Figure(who, metric, unit, median, sorted[0], sorted[sorted.length - 1], sorted.length);
    }

    /** {@code who metric value unit}, and behind a hash sign how far the rounds were apart. */
    public String line() {
        String figure = "%s %s %s %s".formatted(who, metric, number(median), unit.text());
        return rounds == 1
                ? figure
                : "%-48s # %s to %s in %d rounds".formatted(figure, number(least), number(most), rounds);
    }

    /** With as many digits as mean something. */
    public static String number(double value) {
        double size = Math.abs(value);
        if (size > 0 && size < 1) {
            return BigDecimal.valueOf(value).round(new MathContext(3)).toPlainString();
        }
        String format = size >= 100 || value == Math.rint(value) ? "%.0f" : size >= 10 ? "%.1f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}
