package dev.perdure.benchmarks.dbos;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.StepRunner;

/** Workflows of no-op steps on DBOS, called as in its documentation: through the proxy, in the caller's thread. */
public final class DbosSteps implements StepRunner {
    /** The interface of which DBOS makes a proxy. */
    public interface Steps {
        int run(int count);
    }

    private static final class Implementation implements Steps {
        private final DBOS dbos;

        Implementation(DBOS dbos) {
            this.dbos = dbos;
        }

        @Override
        @Workflow(name = "steps")
        public int run(int count) {
            int last = 0;
            for (int i = 0; i < count; i++) {
                int number = i;
                last = dbos.runStep(() -> number, "step");
            }
            return last;
        }
    }

    private final DBOS dbos;
    private final Steps steps;

    private DbosSteps(BenchDatabase database) {
        dbos = new DBOS(config(database));
        steps = dbos.registerProxy(Steps.class, new Implementation(dbos));
        dbos.launch();
    }

    static DBOSConfig config(BenchDatabase database) {
        return DBOSConfig.defaults("bench")
                .withDatabaseUrl(database.countedUrl())
                .withDbUser(database.user())
                .withDbPassword(database.password());
    }

    /** Sets up an executor. */
    public static StepRunner open(BenchDatabase database) {
        return new DbosSteps(database);
    }

    @Override
    public void run(int count) {
        steps.run(count);
    }

    @Override
    public void close() {
        dbos.close();
    }
}
