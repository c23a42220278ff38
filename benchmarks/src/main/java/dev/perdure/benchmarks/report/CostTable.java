package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What an operation costs each contender, as Markdown: a row for each, beside it how many times Perdure's cost it is. */
final class CostTable {
    private static final String OURS = "perdure";
    private static final String NOT_KNOWN = "not known";

    private final Figures figures;
    private final List<String> contenders;

    CostTable(Figures figures, List<String> contenders) {
        this.figures = figures;
        this.contenders = contenders;
    }

    /** Nothing if nothing was measured that has a cost. */
    List<String> lines() {
        List<String> rows = new ArrayList<>();
        figures.metrics().stream()
                .flatMap(metric -> CostKind.measured(metric).stream())
                .distinct()
                .forEach(
                        measured -> contenders.forEach(who -> row(measured, who).ifPresent(rows::add)));
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

    private Optional<String> row(String measured, String who) {
        List<String> cells = Arrays.stream(CostKind.values())
                .map(kind -> cell(kind.metric(measured), who))
                .toList();
        return cells.stream().allMatch(NOT_KNOWN::equals)
                ? Optional.empty()
                : Optional.of("| `%s` | %s | %s |".formatted(measured, who, String.join(" | ", cells)));
    }

    private String cell(String metric, String who) {
        return figures.find(who, metric)
                .map(theirs -> Figure.number(theirs.median())
                        + figures.find(OURS, metric)
                                .filter(ours -> !who.equals(OURS))
                                .map(ours -> " (%s)".formatted(RatioTable.times(ours, theirs)))
                                .orElse(""))
                .orElse(NOT_KNOWN);
    }
}
