package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A bar chart of the most important rates, as SVG. Each group has its own scale. Longer is better. */
public final class Chart {
    private record Bar(String contender, double value) {}

    private record Group(String title, String metric) {}

    private static final List<Group> GROUPS = List.of(
            new Group("One-step workflows per second, 64 callers", "w1.c64"),
            new Group("One-step workflows per second, 256 callers", "w1.c256"),
            new Group("Steps per second, 64 workflows of 100", "w2.64x100"),
            new Group("Queued jobs run per second, 20,000 in the queue", "w3.drain"),
            new Group("Sleepers started per second, 10,000", "w4.10000.start_rate"),
            new Group("Runs recovered per second after kill -9", "w5.recover2000.rate"));
    private static final List<String> WHO = List.of("perdure", "dbos", "dbscheduler", "jobrunr");

    private static final int WIDTH = 760;
    private static final int LEFT = 110;
    private static final int LONGEST = 530;
    private static final int BAR = 18;
    private static final int GAP = 34;

    private final Figures figures;

    public Chart(Figures figures) {
        this.figures = figures;
    }

    /** The picture; empty if none of the rates was measured. */
    public Optional<String> svg() {
        StringBuilder body = new StringBuilder();
        int top = 12;
        for (Group group : GROUPS) {
            List<Bar> bars = bars(group.metric());
            if (!bars.isEmpty()) {
                top = draw(body, group, bars, top);
            }
        }
        return body.isEmpty() ? Optional.empty() : Optional.of(frame(body, top));
    }

    private List<Bar> bars(String metric) {
        List<Bar> bars = new ArrayList<>();
        for (String contender : WHO) {
            figures.find(contender, metric).ifPresent(figure -> bars.add(new Bar(contender, figure.median())));
        }
        return bars;
    }

    private static int draw(StringBuilder body, Group group, List<Bar> bars, int top) {
        double most = bars.stream().mapToDouble(Bar::value).max().orElse(1);
        int y = top + 14;
        body.append("<text class=\"title\" x=\"8\" y=\"%d\">%s</text>\n".formatted(y, group.title()));
        y += 8;
        for (Bar bar : bars) {
            double length = Math.max(1, LONGEST * bar.value() / most);
            body.append(String.format(
                    Locale.ROOT,
                    """
                    <text class="who" x="%d" y="%d">%s</text>
                    <rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>
                    <text class="value" x="%.1f" y="%d">%,.0f</text>
                    """,
                    LEFT - 8,
                    y + 13,
                    bar.contender(),
                    bar.contender(),
                    LEFT,
                    y,
                    length,
                    BAR - 4,
                    LEFT + length + 6,
                    y + 12,
                    bar.value()));
            y += BAR;
        }
        return y + GAP - BAR;
    }

    private static String frame(StringBuilder body, int height) {
        return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
                <style>
                  .title { font-weight: bold; fill: #333 } .who { text-anchor: end; fill: #555 } .value { fill: #333 }
                  .perdure { fill: #1f6f5c } .dbos { fill: #c9a227 } .dbscheduler { fill: #7a8ba0 } .jobrunr { fill: #b0765a }
                </style>
                <rect width="100%%" height="100%%" fill="#fff"/>
                %s</svg>
                """.formatted(WIDTH, height, body);
    }
}
