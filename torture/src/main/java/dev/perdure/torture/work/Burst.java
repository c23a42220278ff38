package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Workload.Parts;

/** A run with a child and a transaction step, to be started many times at once where there are few connections. */
public final class Burst {
    private Burst() {}

    /** What a run starts: one step. */
    public static Definition<Integer, Integer> child(OutsideLedger ledger) {
        return Definition.of("burst-child", Integer.class, Integer.class, (ctx, number) -> {
            String run = ctx.runId().value();
            ctx.step("work", () -> ledger.write(run, "work"));
            return number;
        });
    }

    /** The workflow. */
    public static Definition<Integer, Integer> definition(Parts parts) {
        return Definition.of("burst", Integer.class, Integer.class, (ctx, number) -> {
            int given = ctx.call(Invocation.of(child(parts.ledger()), number));
            return ctx.transaction("note", PostgresTransactions.on(parts.store()), connection -> given);
        });
    }

    /** All that a worker has to know. */
    static Object[] all(Parts parts) {
        return new Object[] {definition(parts), child(parts.ledger())};
    }
}
