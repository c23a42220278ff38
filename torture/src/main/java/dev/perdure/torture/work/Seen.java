package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.torture.setup.Absence;
import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * What there is to see at the end.
 *
 * @param client reads runs and states
 * @param database the database of the engine
 * @param started how many pieces of the workload were acknowledged: those with the numbers below
 * @param lines what its bodies wrote into the ledger, by run
 * @param absences the processes that were stopped for a while, or whose runs have moved, and when
 */
public record Seen(
        Perdure client, DataSource database, int started, Map<String, List<Line>> lines, List<Absence> absences) {
    /** The processes that were stopped, at whatever time: workloads of an older build ask for them. */
    public Set<Long> stopped() {
        return absences.stream().map(Absence::pid).collect(Collectors.toSet());
    }

    /** Whether the process was absent, so that the body may have ended after another process had gone on with the run. */
    public boolean mayBeLate(Line line) {
        return mayBeLate(absences, line);
    }

    /** The same with these absences. */
    static boolean mayBeLate(List<Absence> absences, Line line) {
        return absences.stream().anyMatch(absence -> absence.has(line));
    }

    /** The numbers of the pieces. */
    public IntStream numbers() {
        return IntStream.range(0, started);
    }

    /** What the bodies of a run wrote. */
    public List<Line> of(String run) {
        return lines.getOrDefault(run, List.of());
    }

    /** When a body of this step ended for the first time. */
    public static Instant first(List<Line> lines, String step) {
        return lines.stream()
                .filter(line -> line.step().equals(step))
                .findFirst()
                .map(Line::at)
                .orElse(Instant.MAX);
    }

    /**
     * What was run too much. An execution that has lost its run ends the body in which it is, whose result is refused,
     * and begins no other. The run may be executed again in the same process, and lost again.
     *
     * @param recorded the values in the journal of the run
     */
    static List<String> ranAfterLoss(RunId run, List<Line> lines, List<String> recorded) {
        Map<String, Long> lost = lines.stream()
                .filter(line -> !recorded.contains(line.value()))
                .collect(Collectors.groupingBy(Line::execution, TreeMap::new, Collectors.counting()));
        return lost.entrySet().stream()
                .filter(execution -> execution.getValue() > 1)
                .map(execution -> "Execution %s of run '%s' ran %d bodies that are not recorded."
                        .formatted(execution.getKey(), run, execution.getValue()))
                .toList();
    }
}
