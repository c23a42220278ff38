package dev.perdure.torture.work;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.simulation.store.Defects;
import dev.perdure.spi.Store;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Workload.Parts;
import java.io.IOException;

/** A worker process of all workloads. Ends with its standard input, so that it cannot outlive what started it. */
public final class WorkerMain {
    /** How many arguments there are without a defect. */
    private static final int SOUND = 6;

    private WorkerMain() {}

    /** Arguments: the address of the database, that of the ledger, and a defect of the store or nothing. */
    public static void main(String... arguments) throws IOException {
        try (HikariDataSource pool = Address.of(arguments, 0).pool();
                HikariDataSource ledgerPool = Address.of(arguments, 3).pool();
                PostgresStore store = PostgresStore.on(pool).open()) {
            PerdureBuilder builder = Perdure.on(planted(store, arguments))
                    .lease(Site.LEASE)
                    .maxRuns(200)
                    .queues(StartOptions.DEFAULT_QUEUE);
            Parts parts = new Parts(store, new OutsideLedger(ledgerPool));
            Workloads.ALL.forEach(workload -> workload.register(builder, parts));
            Perdure worker = builder.start();
            System.out.println("ready");
            System.in.readAllBytes();
            worker.close();
        }
    }

    private static Store planted(PostgresStore store, String... arguments) {
        return arguments.length == SOUND ? store : planted(store, Defects.valueOf(arguments[SOUND]));
    }

    /** The store with a defect. */
    public static Store planted(PostgresStore store, Defects defect) {
        return defect.seen(defect.in(store));
    }
}
