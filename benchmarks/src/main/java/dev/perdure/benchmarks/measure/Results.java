package dev.perdure.benchmarks.measure;

import dev.perdure.benchmarks.cost.Cost;
import dev.perdure.benchmarks.report.CostKind;
import dev.perdure.benchmarks.report.Figure;
import dev.perdure.benchmarks.report.Unit;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Sends the figures of a measuring process to the process that started it: one line per figure, on standard output. */
public final class Results {
    private static final String FIGURE = "figure";
    private static final String PROGRESS = "progress";

    private final PrintStream out;

    public Results(PrintStream out) {
        this.out = out;
    }

    /** Sends a figure with the values of all rounds. */
    public void figure(String metric, Unit unit, double... samples) {
        String values = Arrays.stream(samples).mapToObj(Double::toString).collect(Collectors.joining("\t"));
        send(FIGURE, metric, unit.name(), values);
    }

    /** Sends a figure that this function takes from each round. */
    public <T> void figure(String metric, Unit unit, List<T> rounds, ToDoubleFunction<T> value) {
        figure(metric, unit, rounds.stream().mapToDouble(value).toArray());
    }

    /** Sends the cost of an operation in each round: one figure for each kind of cost that is known. */
    public void cost(String metric, List<Cost> rounds) {
        cost(metric, CostKind.CPU, rounds, cost -> (cost.process() + cost.server()) / 1_000);
        cost(metric, CostKind.CPU_PROCESS, rounds, cost -> cost.process() / 1_000);
        cost(metric, CostKind.CPU_SERVER, rounds, cost -> cost.server() / 1_000);
        cost(metric, CostKind.WAL, rounds, Cost::wal);
        cost(metric, CostKind.COMMITS, rounds, Cost::commits);
        cost(metric, CostKind.ROUND_TRIPS, rounds, Cost::roundTrips);
    }

    private void cost(String metric, CostKind kind, List<Cost> rounds, ToDoubleFunction<Cost> value) {
        if (rounds.stream().mapToDouble(value).allMatch(Double::isFinite)) {
            figure(kind.metric(metric), kind.unit(), rounds, value);
        }
    }

    /** Sends a line of progress. */
    public void progress(String text) {
        send(PROGRESS, text);
    }

    private void send(String... parts) {
        out.println(String.join("\t", parts));
        out.flush();
    }

    /** The figure in a line, if it has one. */
    public static Optional<Figure> figureIn(String line, String contender) {
        List<String> parts = new ArrayList<>(Arrays.asList(line.split("\t", -1)));
        if (!parts.getFirst().equals(FIGURE)) {
            return Optional.empty();
        }
        double[] samples = parts.subList(3, parts.size()).stream()
                .mapToDouble(Double::parseDouble)
                .toArray();
        return Optional.of(Figure.of(contender, parts.get(1), Unit.valueOf(parts.get(2)), samples));
    }

    /** The progress in a line, if it has one. */
    public static Optional<String> progressIn(String line) {
        return line.startsWith(PROGRESS + "\t") ? Optional.of(line.substring(PROGRESS.length() + 1)) : Optional.empty();
    }
}
