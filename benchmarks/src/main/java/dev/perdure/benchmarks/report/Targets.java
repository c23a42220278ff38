package dev.perdure.benchmarks.report;

import static dev.perdure.benchmarks.report.Target.atLeast;
import static dev.perdure.benchmarks.report.Target.atMost;
import static dev.perdure.benchmarks.report.Target.ratio;
import static dev.perdure.benchmarks.report.Target.value;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * The performance targets of Perdure. Nearly all are ratios within one run, because only ratios are comparable between
 * machines.
 */
public final class Targets {
    private static final List<Target> ALL = List.of(
            atMost(1.3, "w2.seq1000: a step, in raw commits of one client", Targets::commits),
            atLeast(10, "w2.64x100 relative to DBOS", ratioTo("w2.64x100", "dbos", "w2.64x100")),
            atLeast(
                    2.5,
                    "w2.64x100 relative to raw commits of 32 clients",
                    ratioTo("w2.64x100", "raw", "w2.insert1.c32")),
            atLeast(
                    6,
                    "w2.1000x100 relative to raw commits of 32 clients",
                    ratioTo("w2.1000x100", "raw", "w2.insert1.c32")),
            atLeast(7, "w1.c64 relative to DBOS", ratioTo("w1.c64", "dbos", "w1.c64")),
            atLeast(8, "w1.c256 relative to DBOS", ratioTo("w1.c256", "dbos", "w1.c256")),
            atMost(
                    4,
                    "w1.c1: a run, in raw commits of one client",
                    ratio(value("raw", "w1.insert1.c1"), value("perdure", "w1.c1"))),
            atMost(5, "w3.latency.p50, ms", value("perdure", "w3.latency.p50")),
            atMost(20, "w3.latency.p99, ms", value("perdure", "w3.latency.p99")),
            atLeast(15, "w3.drain relative to DBOS", ratioTo("w3.drain", "dbos", "w3.drain")),
            atLeast(
                    2,
                    "w3.drain relative to db-scheduler's lock-and-fetch",
                    ratioTo("w3.drain", "dbscheduler", "w3.drain")),
            atLeast(
                    20,
                    "w4.1000000.start_rate relative to DBOS's of 10,000",
                    ratioTo("w4.1000000.start_rate", "dbos", "w4.10000.start_rate")),
            atMost(50, "w4.1000000.heap_per_sleeper, bytes", value("perdure", "w4.1000000.heap_per_sleeper")),
            atLeast(10_000, "w4.1000000.wake_rate, /s", value("perdure", "w4.1000000.wake_rate")),
            atLeast(
                    15,
                    "w5.recover2000.rate relative to DBOS",
                    ratioTo("w5.recover2000.rate", "dbos", "w5.recover2000.rate")),
            atMost(1_000, "w5.takeover.p50, ms", value("perdure", "w5.takeover.p50")),
            atMost(2_000, "w5.takeover.p99, ms", value("perdure", "w5.takeover.p99")),
            atMost(2, "w5.standby2000.in_all, s", value("perdure", "w5.standby2000.in_all")),
            atLeast(
                    1.3,
                    "w6.tasks relative to raw commits of 32 clients",
                    ratioTo("w6.tasks", "raw", "w6.insert1.c32")),
            atMost(5, "w6.alone: a DAG of ten tasks, ms beyond 12 raw commits of one client", Targets::beyondCommits),
            atLeast(0.9, "w7.w1.ratio: full relative to empty", value("perdure", "w7.w1.ratio")),
            atLeast(0.9, "w7.w2.ratio: full relative to empty", value("perdure", "w7.w2.ratio")),
            atMost(150, "w8.100000.resume, ms", value("perdure", "w8.100000.resume")),
            atLeast(
                    1,
                    "objects.hot relative to raw commits of one client",
                    ratioTo("objects.hot", "raw", "objects.insert1.c1")),
            atLeast(
                    2.5,
                    "objects.keys1000 relative to raw commits of 32 clients",
                    ratioTo("objects.keys1000", "raw", "objects.insert1.c32")),
            atLeast(8, "queues.limited relative to DBOS", ratioTo("queues.limited", "dbos", "queues.limited")),
            atLeast(
                    0.4,
                    "queues.limited relative to a queue without limits",
                    ratioTo("queues.limited", "perdure", "queues.free")),
            atLeast(
                    0.25,
                    "queues.keys relative to a queue without limits",
                    ratioTo("queues.keys", "perdure", "queues.free")),
            atLeast(980, "queues.rate: of 1,000/s, /s", value("perdure", "queues.rate")),
            atMost(1_000, "queues.rate.most: in any second", value("perdure", "queues.rate.most")),
            atMost(20, "queues.newkey.p50, ms", value("perdure", "queues.newkey.p50")),
            atMost(100, "queues.newkey.p99, ms", value("perdure", "queues.newkey.p99")),
            atLeast(
                    0.9,
                    "queues.backlog.drain: beside 1,000,000 runs that may not begin, relative to none",
                    value("perdure", "queues.backlog.drain")),
            atMost(
                    1.1,
                    "queues.backlog.latency: beside 1,000,000 runs that may not begin, relative to none",
                    value("perdure", "queues.backlog.latency")),
            atLeast(5_000, "schedules.fire_rate, /s", value("perdure", "schedules.fire_rate")),
            atMost(50, "schedules.lateness.p99, ms", value("perdure", "schedules.lateness.p99")),
            atLeast(
                    0.85,
                    "retention.rate relative to runs that are kept",
                    ratioTo("retention.rate", "perdure", "retention.kept.rate")),
            atMost(1.1, "retention.growth of all tables in the last third", value("perdure", "retention.growth")),
            atMost(9, "footprint.connections", value("perdure", "footprint.connections")));

    private final Figures figures;

    public Targets(Figures figures) {
        this.figures = figures;
    }

    private static Function<Figures, OptionalDouble> ratioTo(String metric, String peer, String peerMetric) {
        return ratio(value("perdure", metric), value(peer, peerMetric));
    }

    /** The time of a step, in commits of a single client. */
    private static OptionalDouble commits(Figures figures) {
        OptionalDouble step = value("perdure", "w2.seq1000.per_step").apply(figures);
        OptionalDouble rate = value("raw", "w2.insert1.c1").apply(figures);
        return step.isPresent() && rate.isPresent()
                ? OptionalDouble.of(step.getAsDouble() * rate.getAsDouble() / 1_000)
                : OptionalDouble.empty();
    }

    /** The milliseconds that a DAG takes in addition to its twelve commits. */
    private static OptionalDouble beyondCommits(Figures figures) {
        OptionalDouble dag = value("perdure", "w6.alone").apply(figures);
        OptionalDouble rate = value("raw", "w6.insert1.c1").apply(figures);
        return dag.isPresent() && rate.isPresent()
                ? OptionalDouble.of(dag.getAsDouble() - 12 * 1_000 / rate.getAsDouble())
                : OptionalDouble.empty();
    }

    /** The table as Markdown; empty if no target was measured. */
    public List<String> lines() {
        List<String> rows = new ArrayList<>();
        for (Target target : ALL) {
            target.seen()
                    .apply(figures)
                    .ifPresent(seen -> rows.add("| %s | %s %s | %s | %s |"
                            .formatted(
                                    target.what(),
                                    target.atLeast() ? "≥" : "≤",
                                    Figure.number(target.limit()),
                                    Figure.number(seen),
                                    target.reachedBy(seen) ? "reached" : "**not reached**")));
        }
        if (!rows.isEmpty()) {
            rows.addAll(0, List.of("| target | wanted | seen | |", "|---|---:|---:|---|"));
        }
        return rows;
    }
}
