package dev.perdure.benchmarks.report;

import static dev.perdure.benchmarks.report.Goal.atLeast;
import static dev.perdure.benchmarks.report.Goal.atMost;
import static dev.perdure.benchmarks.report.Goal.ratio;
import static dev.perdure.benchmarks.report.Goal.value;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * The performance goals of Perdure. Nearly all are ratios within one run, because only ratios are comparable between
 * machines.
 */
public final class Goals {
    private static final String PERDURE = "perdure";
    private static final String DBOS = "dbos";

    /** The goals that {@code ./perdure bench goals} measures. */
    private static final List<Goal> MAIN = List.of(
            overDbos(10, "w1.c64"),
            overDbos(18, "w1.c256"),
            overDbos(32, "w1.c1000"),
            atMost(
                    4,
                    "w1.c1: a run, in raw commits of one client",
                    ratio(value("raw", "w1.insert1.c1"), value(PERDURE, "w1.c1"))),
            atMost(
                    3,
                    "w1.c1.p99 relative to w1.c1.p50",
                    ratio(value(PERDURE, "w1.c1.p99"), value(PERDURE, "w1.c1.p50"))),
            atMost(1.3, "w2.seq1000: a step, in raw commits of one client", Goals::commits),
            overDbos(20, "w2.64x100"),
            overRaw(4, "w2.64x100", "w2.insert1.c32"),
            overRaw(9, "w2.1000x100", "w2.insert1.c32"),
            atMost(4, "w3.latency.p50, ms", value(PERDURE, "w3.latency.p50")),
            atMost(12, "w3.latency.p99, ms", value(PERDURE, "w3.latency.p99")),
            overDbos(25, "w3.drain"),
            atLeast(
                    4,
                    "w3.drain relative to db-scheduler's lock-and-fetch",
                    over("w3.drain", "dbscheduler", "w3.drain")),
            atLeast(
                    20,
                    "w4.1000000.start_rate relative to DBOS's of 10,000",
                    over("w4.1000000.start_rate", DBOS, "w4.10000.start_rate")),
            overRaw(0.9, "w4.1000000.wake_rate", "w4.insert1.c32"),
            atMost(50, "w4.1000000.heap_per_sleeper, bytes", value(PERDURE, "w4.1000000.heap_per_sleeper")),
            overDbos(12, "w5.recover2000.rate"),
            atMost(2, "w5.standby2000.in_all, s", value(PERDURE, "w5.standby2000.in_all")),
            atMost(1_000, "w5.takeover.p50, ms", value(PERDURE, "w5.takeover.p50")),
            atMost(2_000, "w5.takeover.p99, ms", value(PERDURE, "w5.takeover.p99")),
            overRaw(1.5, "w6.tasks", "w6.insert1.c32"),
            atMost(4, "w6.alone: a DAG of ten tasks, ms", value(PERDURE, "w6.alone")),
            atLeast(
                    1,
                    "objects.hot relative to raw commits of one client",
                    over("objects.hot", "raw", "objects.insert1.c1")),
            overRaw(1.3, "objects.keys1000", "objects.insert1.c32"),
            atMost(150, "w8.100000.resume, ms", value(PERDURE, "w8.100000.resume")),
            atMost(4_000, "footprint.heap_per_run, bytes", value(PERDURE, "footprint.heap_per_run")),
            atMost(9, "footprint.connections", value(PERDURE, "footprint.connections")),
            cheaper(8, "w1.c64", CostKind.CPU),
            cheaper(15, "w2.64x100", CostKind.CPU),
            cheaper(10, "w3.drain", CostKind.CPU),
            cheaper(2, "w1.c64", CostKind.WAL),
            cheaper(2, "w2.64x100", CostKind.WAL),
            cheaper(2, "w3.drain", CostKind.WAL),
            overOneProcess("workers.w1", 2),
            overOneProcess("workers.w1", 4),
            overOneProcess("workers.w1", 8),
            fewLockWaits("workers.w1"),
            overOneProcess("workers.drain", 2),
            overOneProcess("workers.drain", 4),
            overOneProcess("workers.drain", 8),
            fewLockWaits("workers.drain"),
            grown("w1"),
            grown("w2"),
            grown("claims"),
            grown("lists"),
            grown("shows"));

    /** The goals of other workloads. */
    private static final List<Goal> FURTHER = List.of(
            overDbos(8, "queues.limited"),
            atLeast(
                    0.4,
                    "queues.limited relative to a queue without limits",
                    over("queues.limited", PERDURE, "queues.free")),
            atLeast(
                    0.25,
                    "queues.keys relative to a queue without limits",
                    over("queues.keys", PERDURE, "queues.free")),
            atLeast(980, "queues.rate: of 1,000/s, /s", value(PERDURE, "queues.rate")),
            atMost(1_000, "queues.rate.most: in any second", value(PERDURE, "queues.rate.most")),
            atMost(20, "queues.newkey.p50, ms", value(PERDURE, "queues.newkey.p50")),
            atMost(100, "queues.newkey.p99, ms", value(PERDURE, "queues.newkey.p99")),
            atLeast(
                    0.9,
                    "queues.backlog.drain: beside 1,000,000 runs that may not begin, relative to none",
                    value(PERDURE, "queues.backlog.drain")),
            atMost(
                    1.1,
                    "queues.backlog.latency: beside 1,000,000 runs that may not begin, relative to none",
                    value(PERDURE, "queues.backlog.latency")),
            atLeast(5_000, "schedules.fire_rate, /s", value(PERDURE, "schedules.fire_rate")),
            atMost(50, "schedules.lateness.p99, ms", value(PERDURE, "schedules.lateness.p99")),
            atLeast(
                    0.85,
                    "retention.rate relative to runs that are kept",
                    over("retention.rate", PERDURE, "retention.kept.rate")),
            atMost(1.1, "retention.growth of all tables in the last third", value(PERDURE, "retention.growth")),
            atMost(2, "metrics.w1.events, %", value(PERDURE, "metrics.w1.events")),
            atMost(2, "metrics.w2.events, %", value(PERDURE, "metrics.w2.events")));

    private final Figures figures;
    private final Figures tuned;

    public Goals(Figures figures) {
        this.figures = figures;
        this.tuned = figures.with("tuned", PERDURE);
    }

    private static Function<Figures, OptionalDouble> over(String metric, String peer, String peerMetric) {
        return ratio(value(PERDURE, metric), value(peer, peerMetric));
    }

    private static Goal overDbos(double limit, String metric) {
        return atLeast(limit, metric + " relative to DBOS", over(metric, DBOS, metric));
    }

    private static Goal overRaw(double limit, String metric, String raw) {
        return atLeast(limit, metric + " relative to raw commits of 32 clients", over(metric, "raw", raw));
    }

    /** By how many times an operation of DBOS costs more. */
    private static Goal cheaper(double limit, String metric, CostKind kind) {
        return atLeast(
                limit,
                "%s of %s: DBOS's relative to Perdure's".formatted(kind.title(), metric),
                ratio(value(DBOS, kind.metric(metric)), value(PERDURE, kind.metric(metric))));
    }

    private static Goal overOneProcess(String metric, int processes) {
        return atLeast(
                0.8,
                "%s.p%d relative to one process".formatted(metric, processes),
                over(metric + ".p" + processes, PERDURE, metric + ".p1"));
    }

    private static Goal fewLockWaits(String metric) {
        return atMost(
                0.1,
                metric + ".p8.lock_waits: connections that wait for a lock, on average",
                value(PERDURE, metric + ".p8.lock_waits"));
    }

    private static Goal grown(String what) {
        return atLeast(
                0.9,
                "w7.%s: beside finished runs, relative to an empty database".formatted(what),
                value(PERDURE, "w7.%s.ratio".formatted(what)));
    }

    /** The time of a step, in commits of a single client. */
    private static OptionalDouble commits(Figures figures) {
        OptionalDouble step = value(PERDURE, "w2.seq1000.per_step").apply(figures);
        OptionalDouble rate = value("raw", "w2.insert1.c1").apply(figures);
        return step.isPresent() && rate.isPresent()
                ? OptionalDouble.of(step.getAsDouble() * rate.getAsDouble() / 1_000)
                : OptionalDouble.empty();
    }

    /** The goals that were measured, as a Markdown table; empty if none was. */
    public List<String> lines() {
        List<Goal> all = new ArrayList<>(MAIN);
        all.addAll(FURTHER);
        return table(all.stream()
                .filter(goal -> goal.seen().apply(figures).isPresent())
                .toList());
    }

    /** The goals of {@code ./perdure bench goals}, measured or not, and how many are reached. */
    public List<String> all() {
        List<String> lines = new ArrayList<>(table(MAIN));
        List<Goal> measured = MAIN.stream()
                .filter(goal -> goal.seen().apply(figures).isPresent())
                .toList();
        long reached = measured.stream()
                .filter(goal -> goal.reachedBy(goal.seen().apply(figures).getAsDouble()))
                .count();
        lines.add("");
        lines.add("%d of %d goals are reached; %d were not measured."
                .formatted(reached, MAIN.size(), MAIN.size() - measured.size()));
        return lines;
    }

    private List<String> table(List<Goal> goals) {
        List<String> rows = new ArrayList<>();
        for (Goal goal : goals) {
            OptionalDouble seen = goal.seen().apply(figures);
            rows.add("| %s | %s %s | %s | %s | %s |"
                    .formatted(
                            goal.what(),
                            goal.atLeast() ? "≥" : "≤",
                            Figure.number(goal.limit()),
                            number(seen),
                            seen.isEmpty()
                                    ? "not measured"
                                    : goal.reachedBy(seen.getAsDouble()) ? "reached" : "**not reached**",
                            number(goal.seen().apply(tuned))));
        }
        if (!rows.isEmpty()) {
            rows.addAll(0, List.of("| goal | wanted | with defaults | | tuned |", "|---|---:|---:|---|---:|"));
        }
        return rows;
    }

    private static String number(OptionalDouble seen) {
        return seen.isPresent() ? Figure.number(seen.getAsDouble()) : "–";
    }
}
