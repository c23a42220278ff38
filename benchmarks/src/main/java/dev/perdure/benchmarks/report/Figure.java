package dev.perdure.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.Locale;

/**
 * A figure: the median of its rounds, with their minimum and maximum.
 *
 * @param contender the contender
 * @param metric such as {@code w1.c64}
 * @param rounds the number of rounds
 */
public record Figure(String contender, String metric, Unit unit, double median, double least, double most, int rounds) {
    /** A figure from the values of all rounds. */
    public static Figure of(String contender, String metric, Unit unit, double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Figure(contender, metric, unit, median, sorted[0], sorted[sorted.length - 1], sorted.length);
    }

    /** The same figure, as that of another contender. */
    Figure of(String other) {
        return new Figure(other, metric, unit, median, least, most, rounds);
    }

    /** {@code contender metric value unit} and, after a hash sign, the range of the rounds. */
    public String line() {
        String figure = "%s %s %s %s".formatted(contender, metric, number(median), unit.text());
        return rounds == 1
                ? figure
                : "%-48s # %s to %s in %d rounds".formatted(figure, number(least), number(most), rounds);
    }

    /** The value with its significant digits. */
    public static String number(double value) {
        double size = Math.abs(value);
        if (size > 0 && size < 1) {
            return BigDecimal.valueOf(value).round(new MathContext(3)).toPlainString();
        }
        String format = size >= 100 || value == Math.rint(value) ? "%.0f" : size >= 10 ? "%.1f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}
