package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.torture.CrashWorkflow.Values;
import dev.perdure.torture.OutsideLedger.Line;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What must hold once the system is left alone, from the ledger outside the engine. */
final class Invariants {
    private final Map<String, List<Line>> lines = new HashMap<>();

    private final Set<Long> zombies;

    Invariants(OutsideLedger ledger, Long... zombies) throws Exception {
        this.zombies = Set.of(zombies);
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
            holds(run);
        }
    }

    private void holds(Run<Values> run) {
        List<String> values = run.resultNow().orElseThrow().values();
        List<Line> happened = lines.getOrDefault(run.id().value(), List.of());
        assertThat(values).hasSize(CrashWorkflow.STEPS);
        Set<String> written = new HashSet<>();
        happened.forEach(line -> written.add(line.value()));
        for (int step = 0; step < CrashWorkflow.STEPS; step++) {
            assertThat(written).as("a body gave the recorded value").contains(values.get(step));
            assertThat(values.get(step)).contains("/step-" + step + "/");
        }
        noBodyAfterItsRecord(happened, values);
        Instant slept = recordedAt(happened, values.get(2));
        Instant woke = firstOf(happened, "step-3");
        assertThat(Duration.between(slept, woke))
                .as("the sleep of run " + run.id() + " was not cut short")
                .isGreaterThanOrEqualTo(CrashWorkflow.SLEEP);
    }

    /**
     * No effect before its cause is durable: when step n+1 first runs, step n is recorded and never runs again. Only
     * the body that a zombie was in when it was stopped may still come to its end; what it gave is not what is
     * recorded.
     */
    private void noBodyAfterItsRecord(List<Line> happened, List<String> values) {
        for (int step = 0; step + 1 < CrashWorkflow.STEPS; step++) {
            Instant next = firstOf(happened, "step-" + (step + 1));
            String name = "step-" + step;
            assertThat(happened.stream().filter(line -> line.step().equals(name)))
                    .as("%s never runs after the step behind it has begun", name)
                    .allMatch(line -> !line.at().isAfter(next)
                            || (zombies.contains(line.pid()) && !values.contains(line.value())));
        }
    }

    private static Instant firstOf(List<Line> happened, String step) {
        return happened.stream()
                .filter(line -> line.step().equals(step))
                .findFirst()
                .orElseThrow()
                .at();
    }

    private static Instant recordedAt(List<Line> happened, String value) {
        return happened.stream()
                .filter(line -> line.value().equals(value))
                .findFirst()
                .orElseThrow()
                .at();
    }

    /** How often a body ran in all. */
    int bodies() {
        return lines.values().stream().mapToInt(List::size).sum();
    }
}
