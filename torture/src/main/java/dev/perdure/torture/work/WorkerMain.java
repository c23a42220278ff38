package dev.perdure.torture.work;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.defect.Planted;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Workload.Parts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A worker process of all workloads. It says what time it is for each line of its input, and ends with its input, so
 * that it cannot outlive what started it.
 */
public final class WorkerMain {
    private static final int ADDRESSES = 6;

    private WorkerMain() {}

    /**
     * Arguments: the address of the database, that of the ledger, and any of {@code defect=} what is wrong with the
     * store, {@code notifications=false}, {@code pool=} the number of connections, {@code queue=} the queue from which alone it takes runs,
     * {@code runs=} how many it takes at once, {@code lease=} for how many seconds it lives without a renewal, {@code holds=true} if its bodies of {@link Crowd} never end, {@code workloads=} the folder with the classes of the build whose workloads it runs.
     */
    public static void main(String... arguments) throws IOException {
        Map<String, String> more = Arrays.stream(arguments)
                .skip(ADDRESSES)
                .map(each -> each.split("=", 2))
                .collect(Collectors.toMap(each -> each[0], each -> each[1]));
        String process = Long.toString(ProcessHandle.current().pid());
        Address address = Address.of(arguments, 0).named(process);
        String size = more.get("pool");
        try (HikariDataSource pool = size == null ? address.pool() : address.pool(Integer.parseInt(size));
                HikariDataSource ledgerPool = Address.of(arguments, 3).pool();
                PostgresStore store = PostgresStore.on(pool)
                        .notifications(!"false".equals(more.get("notifications")))
                        .open()) {
            String defect = more.get("defect");
            PerdureBuilder builder = Perdure.on(
                            defect == null ? store : Planted.valueOf(defect).in(store))
                    .lease(Optional.ofNullable(more.get("lease"))
                            .map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)))
                            .orElse(Site.LEASE))
                    .maxRuns(Integer.parseInt(more.getOrDefault("runs", "200")))
                    .label("process", process);
            Parts parts = new Parts(store, new OutsideLedger(ledgerPool));
            register(builder, parts, more);
            Perdure worker = builder.start();
            System.out.println("ready");
            BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String question = asked.readLine();
            while (question != null) {
                System.out.println(question + " " + Instant.now());
                question = asked.readLine();
            }
            worker.close();
        }
    }

    private static void register(PerdureBuilder builder, Parts parts, Map<String, String> more) {
        builder.register(Burst.all(parts));
        String queue = more.get("queue");
        if (queue != null) {
            builder.queues(queue)
                    .register(
                            Poison.definition(parts.ledger()),
                            Crowd.definition(parts.ledger(), more.containsKey("holds")));
            return;
        }
        builder.queues(StartOptions.DEFAULT_QUEUE).register(Hasty.definition());
        String classes = more.get("workloads");
        List<Workload> workloads = classes == null ? Workloads.ALL : Workloads.of(Path.of(classes));
        workloads.forEach(workload -> workload.register(builder, parts));
    }
}
