package dev.perdure.benchmarks.dbos;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.workflow.Workflow;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Recoverable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Workflows of DBOS that survive their process, if it restarts with the same executor id, as it does by default. */
public final class DbosRecoverable implements Recoverable {
    private static final int CALLERS = 64;

    /** The interface of which DBOS makes a proxy. */
    public interface Steps {
        int run(int number);
    }

    private static final class Implementation implements Steps {
        private final DBOS dbos;
        private final IntConsumer sixth;

        Implementation(DBOS dbos, IntConsumer sixth) {
            this.dbos = dbos;
            this.sixth = sixth;
        }

        @Override
        @Workflow(name = "recoverable")
        public int run(int number) {
            for (int i = 0; i < STEPS; i++) {
                dbos.runStep(() -> number, "step");
            }
            dbos.runStep(() -> sixth.accept(number), "sixth");
            return number;
        }
    }

    @Override
    public Host open(BenchDatabase database, IntConsumer sixth) {
        DBOS dbos = new DBOS(DbosSteps.config(database));
        Steps steps = dbos.registerProxy(Steps.class, new Implementation(dbos, sixth));
        dbos.launch();
        return new Host() {
            @Override
            public void start(int count) throws Exception {
                AtomicInteger next = new AtomicInteger();
                Burst.seconds(CALLERS, () -> {
                    for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                        int number = i;
                        dbos.startWorkflow(() -> steps.run(number));
                    }
                });
            }

            @Override
            public void close() {
                dbos.close();
            }
        };
    }

    @Override
    public String unfinished() {
        return "SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')";
    }
}
