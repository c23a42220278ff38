package dev.perdure.torture;

import dev.perdure.Definition;
import dev.perdure.StepOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Five steps with a short sleep among them; every body leaves a line in the ledger. */
final class CrashWorkflow {
    static final int STEPS = 5;
    static final Duration SLEEP = Duration.ofMillis(1_200);

    private CrashWorkflow() {}

    /** The values that the steps gave, in order. */
    record Values(List<String> values) {}

    static Definition<Integer, Values> definition(OutsideLedger ledger) {
        return Definition.of("crash", Integer.class, Values.class, (ctx, number) -> {
            String run = ctx.runId().value();
            List<String> values = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                String name = "step-" + step;
                values.add(ctx.step(name, () -> ledger.write(run, name), StepOptions.retry(1)));
                if (step == 2) {
                    ctx.sleep(SLEEP);
                }
            }
            return new Values(values);
        });
    }
}
