package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.Site;
import java.io.IOException;
import java.time.Duration;

/**
 * A worker process of a queue with limits, to be killed. Ends with its standard input, so that it cannot outlive the
 * test.
 */
public final class QueueWorker {
    static final int AT_ONCE = 20;
    static final int PER_KEY = 2;
    static final Queue QUEUE = Queue.named("limited").concurrency(AT_ONCE).perKey(PER_KEY);
    /** Runs without keys are claimed by a statement of their own, which goes on where the last claim stopped. */
    static final Queue UNKEYED = Queue.named("unkeyed").concurrency(AT_ONCE);
    /** So long that places are taken for most of the time: else the limits would not be reached. */
    private static final Duration BODY = Duration.ofMillis(30);

    private QueueWorker() {}

    /** Two steps that note when they begin and end, with a wait between them that leaves memory. */
    static Definition<String, String> definition(OutsideLedger ledger) {
        return Definition.of("limited", String.class, String.class, (ctx, in) -> {
            ctx.step("first", () -> work(ledger, in));
            ctx.sleep(Duration.ofMillis(20));
            return ctx.step("second", () -> work(ledger, in));
        });
    }

    private static String work(OutsideLedger ledger, String run) throws Exception {
        ledger.write(run, "begin");
        UnderFire.pause(BODY);
        return ledger.write(run, "end");
    }

    /** Arguments: the JDBC URL, the user, the password. */
    public static void main(String... args) throws IOException {
        try (HikariDataSource pool = SmallPool.of(args[0], args[1], args[2]);
                HikariDataSource ledgerPool = SmallPool.of(args[0], args[1], args[2]);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure worker = Perdure.on(store)
                    .register(definition(new OutsideLedger(ledgerPool)))
                    .queues(QUEUE, UNKEYED)
                    .lease(Site.LEASE)
                    .warmWindow(Duration.ZERO)
                    .start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }
}
