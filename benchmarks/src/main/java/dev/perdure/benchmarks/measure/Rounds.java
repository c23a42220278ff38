package dev.perdure.benchmarks.measure;

import dev.perdure.benchmarks.cost.Cost;
import dev.perdure.benchmarks.report.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The results of all rounds of a measurement, from which it makes figures. */
public final class Rounds<T> {
    private final Results results;
    private final List<T> all;

    private Rounds(Results results, List<T> all) {
        this.results = results;
        this.all = all;
    }

    /** Runs as many rounds as the scale has. */
    public static <T> Rounds<T> of(Task task, Callable<T> round) throws Exception {
        return of(task, task.scale().rounds(), round);
    }

    /** Runs this many rounds. */
    public static <T> Rounds<T> of(Task task, int count, Callable<T> round) throws Exception {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(round.call());
        }
        return new Rounds<>(task.results(), all);
    }

    /** Sends a figure. */
    public void figure(String metric, Unit unit, ToDoubleFunction<T> value) {
        results.figure(metric, unit, all, value);
    }

    /** The median of all rounds. */
    public double median(ToDoubleFunction<T> value) {
        double[] sorted = all.stream().mapToDouble(value).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Sends the cost of an operation. */
    public void cost(String metric, Function<T, Cost> each) {
        results.cost(metric, all.stream().map(each).toList());
    }
}
