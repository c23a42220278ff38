package dev.perdure.benchmarks.ours;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.benchmarks.server.Site;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.postgres.PostgresStore;

/** Perdure runs workflows of no-op steps. */
public final class PerdureSteps implements StepRunner {
    /** In all, with the one that listens. */
    static final int CONNECTIONS = 9;

    private static final Definition<Integer, Integer> STEPS =
            Definition.of("steps", Integer.class, Integer.class, (ctx, count) -> {
                int last = 0;
                for (int i = 0; i < count; i++) {
                    int number = i;
                    last = ctx.step("step", () -> number);
                }
                return last;
            });

    private final HikariDataSource pool;
    private final PostgresStore store;
    private final Perdure perdure;

    private PerdureSteps(Site site) {
        pool = site.pool(CONNECTIONS);
        store = PostgresStore.on(pool).open();
        perdure = Perdure.on(store).register(STEPS).start();
    }

    /** Sets it up. */
    public static StepRunner open(Site site) {
        return new PerdureSteps(site);
    }

    @Override
    public void run(int steps) {
        perdure.start(STEPS, steps).result();
    }

    @Override
    public void close() {
        perdure.close();
        store.close();
        pool.close();
    }
}
