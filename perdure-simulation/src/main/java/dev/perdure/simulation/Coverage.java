package dev.perdure.simulation;

import dev.perdure.RunState;
import dev.perdure.spi.Lifecycle;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import dev.perdure.testing.internal.simulation.Aim;
import dev.perdure.testing.internal.simulation.Fault;
import dev.perdure.testing.internal.simulation.Kinds;
import dev.perdure.testing.internal.simulation.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * What many histories have tried: edges of the lifecycle, and kinds of changes, moves and effects together with faults.
 */
public final class Coverage {
    private final Map<Aim, Integer> pairs = new ConcurrentHashMap<>();
    private final Map<String, Integer> edges = new ConcurrentHashMap<>();

    /** Nothing yet. */
    public Coverage() {}

    /** Adds a history that has ended. */
    void add(World world, Records records) {
        for (World.Hit hit : world.hits()) {
            Kinds.of(hit.changes()).forEach(kind -> pairs.merge(new Aim(kind, hit.fault()), 1, Integer::sum));
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

    private static List<Fault> faults() {
        return Stream.of(Fault.values()).filter(Fault::hitsCommits).toList();
    }

    private static String edge(RunState from, RunState to) {
        return from + " -> " + to;
    }

    /** Whether a history had this pair. */
    boolean has(Aim pair) {
        return pairs.containsKey(pair);
    }

    /** The pairs that no history had, without those that are exempt. */
    public List<String> missingPairs() {
        List<String> missing = new ArrayList<>();
        for (Aim pair : Aim.all()) {
            if (!has(pair) && Exempt.why(pair).isEmpty()) {
                missing.add(pair.kind() + " with " + pair.fault());
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
        for (String kind : Kinds.all()) {
            text.append(String.format(Locale.ROOT, "%-24s", kind));
            for (Fault fault : faults()) {
                text.append(String.format(Locale.ROOT, "%15s", count(new Aim(kind, fault))));
            }
            text.append('\n');
        }
        Aim.all().stream()
                .flatMap(pair -> Exempt.why(pair).stream())
                .distinct()
                .forEach(why -> text.append("  -  ").append(why).append('\n'));
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

    private String count(Aim pair) {
        int count = pairs.getOrDefault(pair, 0);
        return count == 0 && Exempt.why(pair).isPresent() ? "-" : String.valueOf(count);
    }
}
