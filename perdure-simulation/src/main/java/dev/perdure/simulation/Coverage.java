package dev.perdure.simulation;

import dev.perdure.RunState;
import dev.perdure.spi.Lifecycle;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.testing.internal.simulation.Fault;
import dev.perdure.testing.internal.simulation.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** What many histories have tried: edges of the lifecycle, and kinds of changes, moves and effects together with faults. */
public final class Coverage {
    private record Pair(String kind, Fault fault) {}

    private final Map<Pair, Integer> pairs = new ConcurrentHashMap<>();
    private final Map<String, Integer> edges = new ConcurrentHashMap<>();

    /** Nothing yet. */
    public Coverage() {}

    /** Adds a history that has ended. */
    void add(World world, Records records) {
        for (World.Hit hit : world.hits()) {
            Set<String> kinds = new TreeSet<>();
            hit.changes().forEach(change -> addKinds(change, kinds));
            kinds.forEach(kind -> pairs.merge(new Pair(kind, hit.fault()), 1, Integer::sum));
        }
        for (RunRef run : records.refs()) {
            RunState before = null;
            for (Runs.Entered entered : world.store().runs().entered(run)) {
                if (before != null) {
                    edges.merge(edge(before, entered.state()), 1, Integer::sum);
                }
                before = entered.state();
            }
        }
    }

    private static void addKinds(Change change, Set<String> kinds) {
        switch (change) {
            case Change.Advance advance -> {
                kinds.add("Move." + advance.move().getClass().getSimpleName());
                addEffects(advance.effects(), kinds);
            }
            case Change.CompletedCall call -> {
                kinds.add("Change.CompletedCall");
                addEffects(call.effects(), kinds);
            }
            default -> kinds.add("Change." + change.getClass().getSimpleName());
        }
    }

    private static void addEffects(List<Effect> effects, Set<String> kinds) {
        effects.forEach(effect -> kinds.add("Effect." + effect.getClass().getSimpleName()));
    }

    /** Those that can hit a commit, or be there when it is made. The others hit a body and a claim. */
    private static List<Fault> faults() {
        return Stream.of(Fault.values())
                .filter(fault -> fault != Fault.KILLED_IN_BODY && fault != Fault.SKIPPED)
                .toList();
    }

    private static String edge(RunState from, RunState to) {
        return from + " -> " + to;
    }

    private static List<String> kinds() {
        return Stream.of(Change.class, Move.class, Effect.class)
                .flatMap(type -> Stream.of(type.getPermittedSubclasses())
                        .filter(kind -> kind != Change.Advance.class)
                        .map(kind -> type.getSimpleName() + "." + kind.getSimpleName()))
                .toList();
    }

    /** The kinds that a fault never hit, by fault. */
    public List<String> missingPairs() {
        List<String> missing = new ArrayList<>();
        for (String kind : kinds()) {
            for (Fault fault : faults()) {
                if (!pairs.containsKey(new Pair(kind, fault))) {
                    missing.add(kind + " with " + fault);
                }
            }
        }
        return missing;
    }

    /** The edges of the lifecycle that no history had. */
    public List<String> missingEdges() {
        List<String> missing = new ArrayList<>();
        for (RunState from : RunState.values()) {
            for (RunState to : new TreeSet<>(Lifecycle.next(from))) {
                if (!edges.containsKey(edge(from, to))) {
                    missing.add(edge(from, to));
                }
            }
        }
        return missing;
    }

    /** The matrix, and what is missing. */
    public String text() {
        StringBuilder text = new StringBuilder("How often a fault hit a commit, by kind of change, move and effect\n");
        text.append(String.format(Locale.ROOT, "%-24s", ""));
        for (Fault fault : faults()) {
            text.append(String.format(Locale.ROOT, "%15s", fault));
        }
        text.append('\n');
        for (String kind : kinds()) {
            text.append(String.format(Locale.ROOT, "%-24s", kind));
            for (Fault fault : faults()) {
                text.append(String.format(Locale.ROOT, "%15d", pairs.getOrDefault(new Pair(kind, fault), 0)));
            }
            text.append('\n');
        }
        text.append("Edges of the lifecycle\n");
        new TreeMap<>(edges)
                .forEach((edge, count) -> text.append("  ")
                        .append(edge)
                        .append(": ")
                        .append(count)
                        .append('\n'));
        text.append("No history had these edges: ").append(missingEdges()).append('\n');
        text.append("No history had these pairs: ").append(missingPairs()).append('\n');
        return text.toString();
    }
}
