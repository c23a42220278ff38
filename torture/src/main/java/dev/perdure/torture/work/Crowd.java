package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.torture.setup.OutsideLedger;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A run whose body ends at once in some processes, and never in others: these hold as many as they may. One with a
 * negative number sleeps before it, for longer than any torture.
 */
public final class Crowd {
    private static final Duration LONG = Duration.ofDays(30);

    private Crowd() {}

    /** The workflow, in a process that holds it or in one that ends it. */
    static Definition<Integer, Integer> definition(OutsideLedger ledger, boolean holds) {
        return Definition.of("crowd", Integer.class, Integer.class, (ctx, number) -> {
            String run = ctx.runId().value();
            if (number < 0) {
                ctx.sleep(LONG);
            }
            ctx.step("work", () -> {
                if (holds) {
                    new CountDownLatch(1).await();
                }
                return ledger.write(run, "work");
            });
            return number;
        });
    }

    /** The workflow, to start it. */
    public static Definition<Integer, Integer> definition(OutsideLedger ledger) {
        return definition(ledger, false);
    }
}
