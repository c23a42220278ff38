package dev.perdure.benchmarks.perdure;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.micrometer.PerdureMetrics;
import dev.perdure.spi.measure.Measurements;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * What metrics and the MDC cost: processor time of this process for a workflow with them, relative to one without.
 *
 * <p>How it works: two engines without either, one with metrics and one with the MDC work in one process, each in its own
 * schema. They are measured in turns of a short time, so that all see the same compiled code and the same machine, and
 * the figure is the median of many turns. Processor time, and not the rate: other load on the machine does not change it
 * much. The second engine without either shows the noise: a cost is only as exact as its figure is far from zero.
 *
 * <p>For metrics, that is not exact enough. So what an engine tells about itself during some workflows is recorded, and
 * told to metrics again and again, by as many threads as there are processors: the processor time of that is what the
 * metrics add to those workflows.
 */
public final class Overheads {
    private enum Variant {
        BARE,
        /** A second engine without either. What it seems to cost is how exact the other figures are. */
        BARE_AGAIN,
        METRICS,
        MDC
    }

    /** A workload. */
    private record Shape(String name, int workflows, int steps) {}

    private static final List<Shape> SHAPES = List.of(new Shape("w1", 64, 1), new Shape("w2", 64, 100));

    private Overheads() {}

    public static void measure(Task task) throws Exception {
        Map<Variant, StepRunner> runners = new EnumMap<>(Variant.class);
        try {
            for (Variant variant : Variant.values()) {
                runners.put(variant, open(task, variant));
            }
            for (Shape shape : SHAPES) {
                double[] without = measure(task, shape, runners);
                reportEvents(task, shape, without);
            }
        } finally {
            runners.values().forEach(StepRunner::close);
        }
    }

    /** What the metrics of a workflow cost by themselves, in percent of what the workflow costs without. */
    private static void reportEvents(Task task, Shape shape, double[] without) throws Exception {
        RecordedEvents recorded = new RecordedEvents();
        String schema = "recorded_" + shape.name();
        try (StepRunner runner = PerdureSteps.open(task.database(), schema, recorded)) {
            recorded.take();
            Burst workflows =
                    Burst.during(task.scale().round().dividedBy(4), shape.workflows(), () -> runner.run(shape.steps()));
            List<Consumer<Measurements>> events = recorded.take();
            Measurements metrics = PerdureMetrics.on(new SimpleMeterRegistry());
            int threads = Runtime.getRuntime().availableProcessors();
            Load.Action again = () -> events.forEach(event -> event.accept(metrics));
            Burst.during(task.scale().warmUp().dividedBy(4), threads, again);
            double median = Arrays.stream(without)
                    .sorted()
                    .skip(without.length / 2)
                    .findFirst()
                    .orElseThrow();
            double[] percent = new double[task.scale().choose(10, 3, 1)];
            for (int i = 0; i < percent.length; i++) {
                Metered<Burst> metered = task.meter()
                        .measure(() -> Burst.during(task.scale().round().dividedBy(4), threads, again));
                double micros = metered.cost()
                                .per(metered.result().count() * workflows.count())
                                .process()
                        / 1_000;
                percent[i] = micros / median * 100;
            }
            task.results().figure("metrics.%s.events".formatted(shape.name()), Unit.PERCENT, percent);
        }
    }

    @SuppressWarnings("try") // it only has to be there while the engine starts
    private static StepRunner open(Task task, Variant variant) {
        Measurements measurements =
                variant == Variant.METRICS ? PerdureMetrics.on(new SimpleMeterRegistry()) : Measurements.NONE;
        String schema = "with_" + variant.name().toLowerCase(Locale.ROOT);
        try (MdcSwitch during = variant == Variant.MDC ? MdcSwitch.on() : MdcSwitch.off()) {
            return PerdureSteps.open(task.database(), schema, measurements);
        }
    }

    /** Compares the engines, and returns the costs of a workflow without metrics, in microseconds. */
    private static double[] measure(Task task, Shape shape, Map<Variant, StepRunner> runners) throws Exception {
        task.results().progress("metrics." + shape.name());
        for (StepRunner runner : runners.values()) {
            Burst.during(task.scale().warmUp(), shape.workflows(), () -> runner.run(shape.steps()));
        }
        Map<Variant, List<Double>> costs = new EnumMap<>(Variant.class);
        int turns = task.scale().choose(30, 8, 1);
        for (int turn = 0; turn < turns; turn++) {
            for (Variant variant : inTurn(turn)) {
                StepRunner runner = Objects.requireNonNull(runners.get(variant));
                costs.computeIfAbsent(variant, first -> new ArrayList<>()).add(turn(task, shape, runner));
            }
        }
        List<Double> bare = costs.getOrDefault(Variant.BARE, List.of());
        report(task, "metrics.%s.cost".formatted(shape.name()), costs.getOrDefault(Variant.METRICS, List.of()), bare);
        report(task, "noise.%s.cost".formatted(shape.name()), costs.getOrDefault(Variant.BARE_AGAIN, List.of()), bare);
        report(task, "mdc.%s.cost".formatted(shape.name()), costs.getOrDefault(Variant.MDC, List.of()), bare);
        double[] micros = bare.stream().mapToDouble(each -> each).toArray();
        task.results().figure("metrics.%s.without".formatted(shape.name()), Unit.MICROSECONDS, micros);
        return micros;
    }

    /** No variant is always behind the same other one, whose garbage it would collect. */
    private static List<Variant> inTurn(int turn) {
        List<Variant> variants = new ArrayList<>(List.of(Variant.values()));
        Collections.rotate(variants, turn);
        return turn % 2 == 0 ? variants : variants.reversed();
    }

    /** The processor time of a workflow, in microseconds. */
    private static double turn(Task task, Shape shape, StepRunner runner) throws Exception {
        Metered<Burst> metered = task.meter()
                .measure(() -> Burst.during(
                        task.scale().round().dividedBy(2), shape.workflows(), () -> runner.run(shape.steps())));
        return metered.cost().per(metered.result().count()).process() / 1_000;
    }

    private static void report(Task task, String metric, List<Double> with, List<Double> without) {
        double[] percent = new double[with.size()];
        for (int i = 0; i < percent.length; i++) {
            percent[i] = (with.get(i) / without.get(i) - 1) * 100;
        }
        task.results().figure(metric, Unit.PERCENT, percent);
    }
}
