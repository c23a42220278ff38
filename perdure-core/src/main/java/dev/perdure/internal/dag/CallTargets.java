package dev.perdure.internal.dag;

import dev.perdure.Invocation;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;
import java.util.Optional;

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
            case Invocation.OfDag<?> dag -> dags.of(dag.dag()).callee();
            case Invocation.OfName<?> name ->
                dag(name)
                        .map(dag -> CallTarget.of(named(name), dag.callee()::tasks))
                        .orElseGet(() -> CallTarget.of(named(name)));
        };
    }

    /** The same for a run that waits for the result, which not every DAG has. */
    public CallTarget ofChild(Invocation<?> invocation) {
        CallTarget target = of(invocation);
        dag(invocation).ifPresent(TypedDag::calleeOfRun);
        return target;
    }

    /** The DAG that this names, with its types: also by its name, if the DAG is registered here. */
    public Optional<TypedDag> dag(Invocation<?> invocation) {
        return switch (invocation) {
            case Invocation.OfDag<?> dag -> Optional.of(dags.of(dag.dag()));
            case Invocation.OfName<?> name -> dags.named(name.definition());
            case Invocation.OfMethod<?> method -> Optional.empty();
            case Invocation.OfDefinition<?> definition -> Optional.empty();
        };
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
