package dev.perdure.internal.dag;

import dev.perdure.dag.Dag;
import dev.perdure.internal.definition.StepTypes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The DAGs of one engine, with their types. */
public final class TypedDags {
    private final StepTypes stepTypes;
    private final Map<Dag<?, ?>, TypedDag> registered = new HashMap<>();
    private final List<Object> definitions = new ArrayList<>();

    /** Finds the DAGs among the registrations. The step types find the types of their outputs. */
    public TypedDags(List<Object> registrations, StepTypes stepTypes) {
        this.stepTypes = stepTypes;
        for (Object registration : registrations) {
            if (registration instanceof Dag<?, ?> dag) {
                TypedDag typed = TypedDag.of(dag, stepTypes);
                registered.put(dag, typed);
                definitions.addAll(typed.definitions());
            } else {
                definitions.add(registration);
            }
        }
    }

    /** The names of the registered DAGs. */
    public List<String> names() {
        return registered.values().stream().map(TypedDag::name).sorted().toList();
    }

    /** The registered DAG of this name. */
    Optional<TypedDag> named(String name) {
        return registered.values().stream()
                .filter(dag -> dag.name().equals(name))
                .findFirst();
    }

    /** The registrations, with the definitions of its runs in the place of each DAG. */
    public List<Object> definitions() {
        return definitions;
    }

    /** A DAG with its types. It resolves a DAG that is not registered here each time, so that it keeps none. */
    public TypedDag of(Dag<?, ?> dag) {
        TypedDag known = registered.get(dag);
        return known == null ? TypedDag.of(dag, stepTypes) : known;
    }
}
