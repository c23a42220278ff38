package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.StepOptions;
import dev.perdure.error.StepFailedException;
import dev.perdure.torture.setup.OutsideLedger;

/** A run that harms its worker. Only workers of a queue of their own know it. */
public final class Poison {
    /** What it does. */
    public enum Way {
        /** Ends the process, without a goodbye, each time that it runs. */
        KILL,
        /** Overflows the stack. */
        OVERFLOW
    }

    private Poison() {}

    /** The workflow. Gives the type of what its step threw. */
    public static Definition<Way, String> definition(OutsideLedger ledger) {
        return Definition.of("poison", Way.class, String.class, (ctx, way) -> {
            String run = ctx.runId().value();
            try {
                return ctx.step(
                        "harm",
                        () -> {
                            ledger.write(run, "harm");
                            return harm(way);
                        },
                        StepOptions.retry(1));
            } catch (StepFailedException failed) {
                return failed.errorType();
            }
        });
    }

    private static String harm(Way way) {
        return switch (way) {
            case KILL -> {
                Runtime.getRuntime().halt(1);
                yield "";
            }
            case OVERFLOW -> Integer.toString(deeper(1));
        };
    }

    private static int deeper(int depth) {
        return depth < 0 ? 0 : 1 + deeper(depth + 1);
    }
}
