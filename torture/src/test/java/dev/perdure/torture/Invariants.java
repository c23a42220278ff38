package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.work.Steps;
import dev.perdure.torture.work.Steps.Values;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must hold once the system is left alone, from the ledger outside the engine. */
final class Invariants {
    private final Map<String, List<Line>> lines = new HashMap<>();

    Invariants(OutsideLedger ledger) throws Exception {
        for (Line line : ledger.lines()) {
            lines.computeIfAbsent(line.run(), unseen -> new ArrayList<>()).add(line);
        }
    }

    /**
     * Every acknowledged start has ended, with the result whose values real bodies gave, in order, and none was paused.
     */
    void hold(Perdure client, List<Run<Values>> runs) {
        for (RunState state : List.of(RunState.PAUSED, RunState.FAILED, RunState.CANCELLED)) {
            assertThat(client.runs(RunFilter.all().state(state)).list())
                    .as("runs that are " + state)
                    .isEmpty();
        }
        for (Run<Values> run : runs) {
            assertThat(Steps.violations(run, lines.getOrDefault(run.id().value(), List.of()), List.of()))
                    .isEmpty();
        }
    }

    /** How often a body ran in all. */
    int bodies() {
        return lines.values().stream().mapToInt(List::size).sum();
    }
}
