package dev.perdure.torture.work.shard;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.ShardSite;
import dev.perdure.torture.setup.ShardStores;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Diamonds;
import dev.perdure.torture.work.Rallies;
import dev.perdure.torture.work.Steps;
import dev.perdure.torture.work.Workload;
import dev.perdure.torture.work.Workload.Parts;
import java.io.IOException;
import java.util.List;

/** A worker process of the workloads on several shards. It ends with its input. */
public final class ShardWorker {
    /** What workers register, and what the client starts. */
    public static final List<Workload> WORKLOADS =
            List.of(new Steps(), new Rallies(), new Relatives(), new Tallies(), new Rings(), new Diamonds());

    private ShardWorker() {}

    /** Arguments: the addresses of the ledger and of the shards. */
    public static void main(String... arguments) throws IOException {
        try (HikariDataSource ledgerPool = Address.of(arguments, 0).pool();
                ShardStores stores = new ShardStores(ShardSite.addresses(arguments))) {
            PerdureBuilder builder = Perdure.on(stores.sharded())
                    .lease(Site.LEASE)
                    .maxRuns(200)
                    .label("process", Long.toString(ProcessHandle.current().pid()));
            Parts parts = new Parts(stores.first(), new OutsideLedger(ledgerPool));
            WORKLOADS.forEach(workload -> workload.register(builder, parts));
            Perdure worker = builder.start();
            System.out.println("ready");
            while (System.in.read() >= 0) {
                // It has nothing to say.
            }
            worker.close();
        }
    }
}
