package dev.perdure.benchmarks.report;

import java.util.Optional;

/** The kinds of cost of an operation. The name of the figure is the name of the measurement, followed by the kind. */
public enum CostKind {
    CPU("cpu", Unit.MICROSECONDS, "processor time"),
    CPU_PROCESS("cpu.process", Unit.MICROSECONDS, "of that, the process"),
    CPU_SERVER("cpu.server", Unit.MICROSECONDS, "of that, the server"),
    WAL("wal", Unit.BYTES, "WAL"),
    COMMITS("commits", Unit.COUNT, "commits"),
    ROUND_TRIPS("round_trips", Unit.COUNT, "round trips");

    private final String suffix;
    private final Unit unit;
    private final String title;

    CostKind(String suffix, Unit unit, String title) {
        this.suffix = "." + suffix;
        this.unit = unit;
        this.title = title;
    }

    public Unit unit() {
        return unit;
    }

    /** The title of the table column. */
    String title() {
        return title;
    }

    /** The name of the figure, such as {@code w1.c64.wal}. */
    public String metric(String measured) {
        return measured + suffix;
    }

    /** The name of the measurement, such as {@code w1.c64}, if the figure is a cost. */
    static Optional<String> measured(String metric) {
        for (CostKind kind : values()) {
            if (metric.endsWith(kind.suffix)) {
                return Optional.of(metric.substring(0, metric.length() - kind.suffix.length()));
            }
        }
        return Optional.empty();
    }
}
