package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresStoreBuilder;
import dev.perdure.retention.Retention;
import dev.perdure.spi.measure.Measurements;
import java.util.function.UnaryOperator;

/** Workflows of no-op steps on Perdure. */
public final class PerdureSteps implements StepRunner {
    static final Definition<Integer, Integer> STEPS =
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

    private PerdureSteps(
            BenchDatabase database, UnaryOperator<PostgresStoreBuilder> stores, UnaryOperator<PerdureBuilder> engines) {
        pool = database.pool();
        store = stores.apply(PostgresStore.on(pool)).open();
        perdure = engines.apply(Perdure.on(store).register(STEPS)).start();
    }

    /** Sets up a worker. */
    public static StepRunner open(BenchDatabase database) {
        return open(database, Retention.standard());
    }

    /** Sets up a worker that removes runs after this time. */
    static StepRunner open(BenchDatabase database, Retention retention) {
        return new PerdureSteps(database, store -> store, engine -> engine.retention(retention));
    }

    /** Sets up a worker in this schema that measures itself. */
    static StepRunner open(BenchDatabase database, String schema, Measurements measurements) {
        return new PerdureSteps(database, store -> store.schema(schema), engine -> engine.measurements(measurements));
    }

    @Override
    public void run(int steps) {
        run(perdure, steps);
    }

    /** Runs a workflow of this many steps and waits for its result. */
    static void run(Perdure perdure, int steps) {
        perdure.start(Invocation.of(STEPS, steps)).result();
    }

    @Override
    public void close() {
        perdure.close();
        store.close();
        pool.close();
    }
}
