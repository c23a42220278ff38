package dev.perdure.internal.dag;

import dev.perdure.Dag;
import dev.perdure.internal.definition.StepTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The graphs that one engine has seen. */
public final class Graphs {
    private final StepTypes stepTypes;
    private final ConcurrentMap<Dag<?, ?>, Graph> known = new ConcurrentHashMap<>();

    /** Types of outputs are found by these. */
    public Graphs(StepTypes stepTypes) {
        this.stepTypes = stepTypes;
    }

    /** A graph with its types. */
    public Graph of(Dag<?, ?> dag) {
        return known.computeIfAbsent(dag, unseen -> Graph.of(unseen, stepTypes));
    }

    /** What was registered, with everything that a graph's runs run in the place of the graph. */
    public List<Object> spreadOut(List<Object> registrations) {
        List<Object> all = new ArrayList<>();
        for (Object registration : registrations) {
            if (registration instanceof Dag<?, ?> dag) {
                all.addAll(of(dag).definitions());
            } else {
                all.add(registration);
            }
        }
        return all;
    }
}
