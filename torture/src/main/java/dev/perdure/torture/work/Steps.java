package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunConflictException;
import dev.perdure.torture.setup.Absence;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Five steps with a sleep among them that is longer than the warm window, so that every run is suspended, woken by its
 * timer and claimed. Steps have one attempt: trouble that reaches a body fails its run, and shows.
 */
public final class Steps implements Workload {
    /** How many steps a run has. */
    public static final int STEPS = 5;
    /** How long it sleeps after the third. */
    public static final Duration SLEEP = Duration.ofMillis(1_200);

    private static final int ONE_MEETS_ANOTHER_OF = 10;

    /** The values that the steps gave, in order. */
    public record Values(List<String> values) {}

    /** The workflow. */
    public static Definition<Integer, Values> definition(OutsideLedger ledger) {
        return Definition.of("steps", Integer.class, Values.class, (ctx, number) -> {
            String run = ctx.runId().value();
            long execution = System.nanoTime();
            List<String> values = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                String name = "step-" + step;
                values.add(ctx.step(name, () -> ledger.write(run, name, execution), StepOptions.retry(1)));
                if (step == 2) {
                    ctx.sleep(SLEEP);
                }
            }
            return new Values(values);
        });
    }

    private final String name;

    /** Runs with ids that begin with {@code steps-}. */
    public Steps() {
        this("steps");
    }

    /** Runs with ids that begin with this name. */
    public Steps(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition(parts.ledger()));
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        StartOptions id = StartOptions.id(name + "-" + number);
        client.start(Invocation.of(definition(parts.ledger()), number), id);
        if (number % ONE_MEETS_ANOTHER_OF == 0) {
            try {
                client.start(Invocation.of(definition(parts.ledger()), number + 1), id);
            } catch (RunConflictException refused) {
                return;
            }
            throw new IllegalStateException("Run '%s-%d' was started with two inputs.".formatted(name, number));
        }
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().forEach(number -> {
            Run<Values> run = seen.client().run(RunId.of(name + "-" + number), TypeRef.of(Values.class));
            violations.addAll(violations(run, seen.of(run.id().value()), seen.absences()));
        });
        return violations;
    }

    /**
     * What is wrong with a run: it has the values that real bodies gave, in order; no body ends after the next step has
     * begun; an execution that has lost the run ends the body in which it was and begins no other; the sleep was not cut short.
     */
    public static List<String> violations(Run<Values> run, List<Line> lines, List<Absence> absences) {
        List<String> violations = new ArrayList<>();
        List<String> values = run.resultNow().map(Values::values).orElse(List.of());
        Set<String> written = lines.stream().map(Line::value).collect(Collectors.toSet());
        if (values.size() != STEPS || !written.containsAll(values)) {
            return List.of("Run '%s' has the values %s, and its bodies gave %s.".formatted(run.id(), values, written));
        }
        for (int step = 0; step < STEPS; step++) {
            String name = "step-" + step;
            if (!values.get(step).contains("/" + name + "/")) {
                violations.add("Run '%s' has the value %s for %s.".formatted(run.id(), values.get(step), name));
            }
            Instant next = step + 1 < STEPS ? Seen.first(lines, "step-" + (step + 1)) : Instant.MAX;
            lines.stream()
                    .filter(line -> line.step().equals(name) && line.at().isAfter(next))
                    .filter(line -> !Seen.mayBeLate(absences, line) || values.contains(line.value()))
                    .forEach(line ->
                            violations.add("A body of %s in run '%s' ended at %s, after the next step had begun at %s."
                                    .formatted(name, run.id(), line.at(), next)));
        }
        violations.addAll(Seen.ranAfterLoss(run.id(), lines, values));
        Instant slept = lines.stream()
                .filter(line -> line.value().equals(values.get(2)))
                .findFirst()
                .orElseThrow()
                .at();
        Duration sleep = Duration.between(slept, Seen.first(lines, "step-3"));
        if (sleep.compareTo(SLEEP) < 0) {
            violations.add("Run '%s' slept for %s instead of %s.".formatted(run.id(), sleep, SLEEP));
        }
        return violations;
    }
}
