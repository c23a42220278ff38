package dev.perdure.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** All figures of a run, in the order in which they were measured. */
public final class Figures {
    private final List<Figure> all = new ArrayList<>();

    public void add(Figure figure) {
        all.add(figure);
    }

    public List<Figure> all() {
        return List.copyOf(all);
    }

    /** These figures, with those of one contender in the place of those of another. */
    Figures with(String contender, String insteadOf) {
        Figures figures = new Figures();
        all.stream()
                .filter(figure -> !figure.contender().equals(insteadOf))
                .map(figure -> figure.contender().equals(contender) ? figure.of(insteadOf) : figure)
                .forEach(figures::add);
        return figures;
    }

    public Optional<Figure> find(String contender, String metric) {
        return all.stream()
                .filter(figure ->
                        figure.contender().equals(contender) && figure.metric().equals(metric))
                .findFirst();
    }

    /** All metrics that any contender has. */
    public Set<String> metrics() {
        Set<String> metrics = new LinkedHashSet<>();
        all.forEach(figure -> metrics.add(figure.metric()));
        return metrics;
    }
}
