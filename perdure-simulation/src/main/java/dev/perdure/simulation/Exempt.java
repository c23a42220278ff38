package dev.perdure.simulation;

import dev.perdure.testing.internal.simulation.Aim;
import dev.perdure.testing.internal.simulation.Fault;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The pairs of a kind of change and a fault that histories need not have, each with the reason. */
final class Exempt {
    /** Some pairs, and why histories need not have them. */
    private record Pairs(Set<String> kinds, Set<Fault> faults, String why) {}

    private static final List<Pairs> ALL = List.of(
            new Pairs(
                    Set.of("Move.Pause", "Effect.Awakeable", "Change.Repair"),
                    Set.of(Fault.HINT_LOST, Fault.HINT_DOUBLED, Fault.HINT_LATE),
                    "The store gives no hint of it. Only another change of the same batch can have one."),
            new Pairs(
                    Set.of("Effect.Send"),
                    Set.of(Fault.values()),
                    "It is for a run on another server, and histories have one server."));

    private Exempt() {}

    /** Why histories need not have this pair, if so. */
    static Optional<String> why(Aim pair) {
        return ALL.stream()
                .filter(pairs -> pairs.kinds.contains(pair.kind()) && pairs.faults.contains(pair.fault()))
                .map(Pairs::why)
                .findFirst();
    }
}
