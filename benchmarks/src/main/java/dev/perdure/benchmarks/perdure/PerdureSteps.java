package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.postgres.PostgresStore;

/** Workflows of no-op steps on Perdure. */
public final class PerdureSteps implements StepRunner {
    /** The total, with the connection that listens. */
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

    private PerdureSteps(BenchDatabase database) {
        pool = database.pool(CONNECTIONS);
        store = PostgresStore.on(pool).open();
        perdure = Perdure.on(store).register(STEPS).start();
    }

    /** Sets up a worker. */
    public static StepRunner open(BenchDatabase database) {
        return new PerdureSteps(database);
    }

    @Override
    public void run(int steps) {
        perdure.start(Invocation.of(STEPS, steps)).result();
    }

    @Override
    public void close() {
        perdure.close();
        store.close();
        pool.close();
    }
}
