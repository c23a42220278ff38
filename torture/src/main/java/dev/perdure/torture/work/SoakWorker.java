package dev.perdure.torture.work;

import com.sun.management.UnixOperatingSystemMXBean;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Workload.Parts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A worker process of a soak. Runs are removed some minutes after their end, so that what stays for ever shows. It says
 * how much it uses for each line of its input, and ends with the input.
 */
public final class SoakWorker {
    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final Duration BETWEEN_FIRES = Duration.ofSeconds(5);

    private SoakWorker() {}

    /** What a process uses, as it says it: heap after a collection in bytes, threads, open files. */
    public record Usage(long heap, long threads, long handles) {
        /** What {@link #text()} said. */
        public static Usage of(String text) {
            String[] parts = text.split(" ", -1);
            return new Usage(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
        }

        /** Of this process. Collects garbage first. */
        public static Usage now() {
            System.gc();
            return new Usage(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                            ? unix.getOpenFileDescriptorCount()
                            : 0);
        }

        String text() {
            return heap + " " + threads + " " + handles;
        }
    }

    /** Arguments: the address of the database, that of the ledger, and how long a connection lives. */
    public static void main(String... arguments) throws IOException {
        Duration life = Duration.parse(arguments[6]);
        try (HikariDataSource pool = Address.of(arguments, 0).pool(life);
                HikariDataSource ledgerPool = Address.of(arguments, 3).pool(life);
                PostgresStore store = PostgresStore.on(pool).open()) {
            Parts parts = new Parts(store, new OutsideLedger(ledgerPool));
            PerdureBuilder builder = Perdure.on(store)
                    .queues(StartOptions.DEFAULT_QUEUE)
                    .retention(Retention.of(KEPT).keepAudit(KEPT))
                    .schedules(Schedule.of(
                            "soak", Times.every(BETWEEN_FIRES), Invocation.of(Steps.definition(parts.ledger()), 0)));
            Workloads.SOAKED.forEach(workload -> workload.register(builder, parts));
            Perdure worker = builder.start();
            System.out.println("ready");
            BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String question = asked.readLine();
            while (question != null) {
                System.out.println(question + " " + Usage.now().text());
                question = asked.readLine();
            }
            worker.close();
        }
    }
}
