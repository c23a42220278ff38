package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Perdure compared with its peers in all metrics except costs, as Markdown. Perdure is better if the ratio is above
 * one.
 */
public final class RatioTable {
    private static final String PERDURE = "perdure";

    private final Figures figures;
    private final List<String> peers;

    public RatioTable(Figures figures, List<String> peers) {
        this.figures = figures;
        this.peers = peers.stream()
                .filter(peer -> figures.all().stream()
                        .anyMatch(figure -> figure.contender().equals(peer)))
                .toList();
    }

    /** The table; empty if no peer was measured. */
    public List<String> lines() {
        List<String> rows = figures.metrics().stream()
                .filter(metric -> CostKind.measured(metric).isEmpty())
                .flatMap(metric -> row(metric).stream())
                .toList();
        if (rows.isEmpty()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        lines.add("| metric | unit | perdure | " + String.join(" | ", peers) + " |");
        lines.add("|---|---|---:|" + "---:|".repeat(peers.size()));
        lines.addAll(rows);
        return lines;
    }

    private Optional<String> row(String metric) {
        Optional<Figure> ours = figures.find(PERDURE, metric);
        List<String> cells = peers.stream()
                .map(peer -> figures.find(peer, metric))
                .map(theirs -> cell(ours, theirs))
                .toList();
        if (ours.isEmpty() || cells.stream().allMatch("–"::equals)) {
            return Optional.empty();
        }
        Figure figure = ours.get();
        return Optional.of("| `%s` | %s | %s | %s |"
                .formatted(metric, figure.unit().text(), Figure.number(figure.median()), String.join(" | ", cells)));
    }

    private static String cell(Optional<Figure> ours, Optional<Figure> theirs) {
        if (ours.isEmpty() || theirs.isEmpty()) {
            return "–";
        }
        return "%s (%s)".formatted(Figure.number(theirs.get().median()), times(ours.get(), theirs.get()));
    }

    /** How many times better Perdure's figure is. */
    static String times(Figure ours, Figure theirs) {
        double ratio = theirs.unit().moreIsBetter() ? ours.median() / theirs.median() : theirs.median() / ours.median();
        if (!Double.isFinite(ratio)) {
            return "no ratio";
        }
        return String.format(Locale.ROOT, ratio < 10 ? "%.2f ×" : "%.0f ×", ratio);
    }
}
