package dev.perdure.torture;

import static dev.perdure.StepOptions.limit;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Limiter;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.Site;
import java.io.IOException;
import java.time.Duration;

/**
 * A worker process whose runs share a limiter of steps, to be killed. Ends with its standard input, so that it cannot
 * outlive the test.
 */
public final class LimiterWorker {
    static final int AT_ONCE = 5;
    static final int STEPS = 3;
    static final Limiter LIMITER = Limiter.named("partner").concurrency(AT_ONCE);
    static final int IN_A_PERIOD = 100;
    static final Duration PERIOD = Duration.ofSeconds(2);
    static final Limiter RATE = Limiter.named("api").rate(IN_A_PERIOD, PERIOD);
    /** So long that permits are held for most of the time: else the limit would not be reached. */
    private static final Duration BODY = Duration.ofMillis(20);

    private LimiterWorker() {}

    /** Limited steps that note when they begin and end. */
    static Definition<String, String> definition(OutsideLedger ledger) {
        return Definition.of("limited-steps", String.class, String.class, (ctx, in) -> {
            for (int i = 0; i < STEPS; i++) {
                String step = in + "/" + i;
                ctx.step("call", () -> work(ledger, step), limit(LIMITER));
            }
            return in;
        });
    }

    /** The same with steps of which so many may begin in a period. */
    static Definition<String, String> rated(OutsideLedger ledger) {
        return Definition.of("rated-steps", String.class, String.class, (ctx, in) -> {
            for (int i = 0; i < STEPS; i++) {
                String step = in + "/" + i;
                ctx.step("call", () -> work(ledger, step), limit(RATE));
            }
            return in;
        });
    }

    private static String work(OutsideLedger ledger, String step) throws Exception {
        ledger.write(step, "begin");
        UnderFire.pause(BODY);
        return ledger.write(step, "end");
    }

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                HikariDataSource ledgerPool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            OutsideLedger ledger = new OutsideLedger(ledgerPool);
            Perdure worker = Perdure.on(store)
                    .register(definition(ledger), rated(ledger))
                    .limiters(LIMITER, RATE)
                    .lease(Site.LEASE)
                    .warmWindow(Duration.ofMillis(50))
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
