package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Perdure with its defaults, Perdure tuned, and its peers in all metrics except costs, as Markdown. A ratio above one
 * says how many times better tuning makes Perdure, or how many times better Perdure with its defaults is than a peer.
 */
public final class RatioTable {
    private static final String PERDURE = "perdure";
    private static final String TUNED = "tuned";
    private static final String NONE = "–";

    private final Figures figures;
    private final List<String> others;

    public RatioTable(Figures figures, List<String> peers) {
        this.figures = figures;
        List<String> all = new ArrayList<>(List.of(TUNED));
        all.addAll(peers);
        this.others = all.stream()
                .filter(other -> figures.all().stream()
                        .anyMatch(figure -> figure.contender().equals(other)))
                .toList();
    }

    /** The table; empty if there is nothing to compare with. */
    public List<String> lines() {
        List<String> rows = figures.metrics().stream()
                .filter(metric -> CostKind.measured(metric).isEmpty())
                .flatMap(metric -> row(metric).stream())
                .toList();
        if (rows.isEmpty()) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        lines.add("| metric | unit | perdure | " + String.join(" | ", others) + " |");
        lines.add("|---|---|---:|" + "---:|".repeat(others.size()));
        lines.addAll(rows);
        return lines;
    }

    private Optional<String> row(String metric) {
        Optional<Figure> ours = figures.find(PERDURE, metric);
        List<String> cells =
                others.stream().map(other -> cell(ours, other, metric)).toList();
        if (ours.isEmpty() || cells.stream().allMatch(NONE::equals)) {
            return Optional.empty();
        }
        Figure figure = ours.get();
        return Optional.of("| `%s` | %s | %s | %s |"
                .formatted(metric, figure.unit().text(), Figure.number(figure.median()), String.join(" | ", cells)));
    }

    private String cell(Optional<Figure> ours, String other, String metric) {
        Optional<Figure> theirs = figures.find(other, metric);
        if (ours.isEmpty() || theirs.isEmpty()) {
            return NONE;
        }
        String ratio = other.equals(TUNED) ? times(theirs.get(), ours.get()) : times(ours.get(), theirs.get());
        return "%s (%s)".formatted(Figure.number(theirs.get().median()), ratio);
    }

    /** How many times better the first figure is than the second. */
    static String times(Figure first, Figure second) {
        double ratio =
                second.unit().moreIsBetter() ? first.median() / second.median() : second.median() / first.median();
        if (!Double.isFinite(ratio)) {
            return "no ratio";
        }
        return String.format(Locale.ROOT, ratio < 10 ? "%.2f ×" : "%.0f ×", ratio);
    }
}
