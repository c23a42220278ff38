package dev.perdure.benchmarks.dbos;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.perdure.benchmarks.server.Site;
import dev.perdure.benchmarks.workload.StepRunner;

/** DBOS runs workflows of no-op steps, called as its documentation shows it: through the proxy, in the caller's thread. */
public final class DbosSteps implements StepRunner {
    /** What DBOS makes a proxy of. */
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

    private DbosSteps(Site site) {
        dbos = new DBOS(config(site));
        steps = dbos.registerProxy(Steps.class, new Implementation(dbos));
        dbos.launch();
    }

    static DBOSConfig config(Site site) {
        return DBOSConfig.defaults("bench")
                .withDatabaseUrl(site.countedUrl())
                .withDbUser(site.user())
                .withDbPassword(site.password());
    }

    /** Sets it up. */
    public static StepRunner open(Site site) {
        return new DbosSteps(site);
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
