package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The cost of operations, as Markdown: one row per contender, with the ratio to Perdure's cost. */
final class CostTable {
    private static final String PERDURE = "perdure";
    private static final String UNKNOWN = "not known";

    private final Figures figures;
    private final List<String> contenders;

    CostTable(Figures figures, List<String> contenders) {
        this.figures = figures;
        this.contenders = contenders;
    }

    /** The table; empty if no cost was measured. */
    List<String> lines() {
        List<String> rows = new ArrayList<>();
        figures.metrics().stream()
                .flatMap(metric -> CostKind.measured(metric).stream())
                .distinct()
                .forEach(measured ->
                        contenders.forEach(contender -> row(measured, contender).ifPresent(rows::add)));
        if (!rows.isEmpty()) {
            String titles = Arrays.stream(CostKind.values())
                    .map(kind -> kind.unit() == Unit.COUNT
                            ? kind.title()
                            : kind.title() + ", " + kind.unit().text())
                    .collect(Collectors.joining(" | "));
            rows.addFirst("|---|---|" + "---:|".repeat(CostKind.values().length));
            rows.addFirst("| operation | contender | " + titles + " |");
        }
        return rows;
    }

    private Optional<String> row(String measured, String contender) {
        List<String> cells = Arrays.stream(CostKind.values())
                .map(kind -> cell(kind.metric(measured), contender))
                .toList();
        return cells.stream().allMatch(UNKNOWN::equals)
                ? Optional.empty()
                : Optional.of("| `%s` | %s | %s |".formatted(measured, contender, String.join(" | ", cells)));
    }

    private String cell(String metric, String contender) {
        return figures.find(contender, metric)
                .map(theirs -> Figure.number(theirs.median())
                        + figures.find(PERDURE, metric)
                                .filter(ours -> !contender.equals(PERDURE))
                                .map(ours -> " (%s)".formatted(RatioTable.times(ours, theirs)))
                                .orElse(""))
                .orElse(UNKNOWN);
    }
}
