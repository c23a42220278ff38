package dev.perdure.internal.dag;

import dev.perdure.Invocation;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;

/**
 * Looks up what an invocation names.
 *
 * @param registry the definitions of the engine
 * @param dags its DAGs
 */
public record CallTargets(Registry registry, TypedDags dags) {
    /** What it names. */
    public CallTarget of(Invocation<?> invocation) {
        if (invocation == null) {
            throw new InvalidRequestException("The invocation is null. Make it with Invocation.of(…).");
        }
        return switch (invocation) {
            case Invocation.OfMethod<?> method -> CallTarget.of(registry.target(method.method()));
            case Invocation.OfDefinition<?> value -> CallTarget.of(Target.of(value.definition()));
            case Invocation.OfDag<?> dag -> dag(dag).callee();
            case Invocation.OfName<?> name -> CallTarget.of(named(name));
        };
    }

    /** The same for a run that waits for the result, which not every DAG has. */
    public CallTarget ofChild(Invocation<?> invocation) {
        return invocation instanceof Invocation.OfDag<?> dag ? dag(dag).calleeOfRun() : of(invocation);
    }

    /** The DAG with its types. */
    public TypedDag dag(Invocation.OfDag<?> dag) {
        return dags.of(dag.dag());
    }

    private Target named(Invocation.OfName<?> name) {
        Object input = name.input();
        Target known = registry.find(name.definition())
                .map(Registered::target)
                .orElseGet(() -> new Target(
                        name.definition(),
                        input == null ? void.class : input.getClass(),
                        name.result().type()));
        return new Target(known.name(), known.inputType(), name.result().type());
    }
}
