package dev.perdure.torture.work;

import dev.perdure.Definition;
import dev.perdure.StepOptions;
import dev.perdure.error.StepFailedException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A run whose step always times out, and which may be cancelled at any time. Gives how many steps have timed out. */
public final class Hasty {
    private static final Duration TIMEOUT = Duration.ofMillis(20);

    private Hasty() {}

    /** The workflow. */
    public static Definition<Integer, Integer> definition() {
        return Definition.of("hasty", Integer.class, Integer.class, (ctx, number) -> {
            try {
                return ctx.step(
                        "wait",
                        () -> new CountDownLatch(1).await(10, TimeUnit.SECONDS) ? 0 : -1,
                        StepOptions.retry(2).timeout(TIMEOUT));
            } catch (StepFailedException timedOut) {
                return 1;
            }
        });
    }
}
