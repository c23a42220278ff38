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
import dev.perdure.torture.setup.OutsideLedger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Runs that are in memory for more than two seconds, with one step after the other, so that a worker that loses its
 * lease is always in the midst of some: it ends the body in which it is, and begins no other. It takes a second to lose
 * one, and the runs have to be longer than that.
 */
public final class Walks implements Workload {
    private static final int STEPS = 12;
    private static final Duration BODY = Duration.ofMillis(200);

    /** The values that the steps gave, in order. */
    public record Path(List<String> values) {}

    private static Definition<Integer, Path> definition(OutsideLedger ledger) {
        return Definition.of("walk", Integer.class, Path.class, (ctx, number) -> {
            String run = ctx.runId().value();
            long execution = System.nanoTime();
            List<String> values = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                String name = "step-" + step;
                values.add(ctx.step(
                        name,
                        () -> {
                            LockSupport.parkNanos(BODY.toNanos());
                            return ledger.write(run, name, execution);
                        },
                        StepOptions.retry(1)));
            }
            return new Path(values);
        });
    }

    @Override
    public String name() {
        return "walks";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition(parts.ledger()));
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(Invocation.of(definition(parts.ledger()), number), StartOptions.id("walks-" + number));
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().forEach(number -> {
            Run<Path> run = seen.client().run(RunId.of("walks-" + number), TypeRef.of(Path.class));
            List<String> values = run.resultNow().map(Path::values).orElse(List.of());
            boolean inOrder = values.size() == STEPS
                    && IntStream.range(0, STEPS)
                            .allMatch(step -> values.get(step).contains("/step-" + step + "/"));
            violations.addAll(
                    inOrder
                            ? Seen.ranAfterLoss(run.id(), seen.of(run.id().value()), values)
                            : List.of("Run '%s' has the values %s.".formatted(run.id(), values)));
        });
        return violations;
    }
}
