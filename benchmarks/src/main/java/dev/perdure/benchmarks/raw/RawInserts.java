package dev.perdure.benchmarks.raw;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.BenchDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Plain inserts, which show what the server can do: the baseline for all contenders. One row is about as large as the
 * record of a step.
 */
public final class RawInserts {
    private static final byte[] PAYLOAD = "{\"amount\":4200,\"currency\":\"EUR\"}".getBytes(StandardCharsets.UTF_8);
    private static final List<Integer> CLIENTS = List.of(1, 8, 32);
    private static final int BATCH = 1_000;
    private static final int BATCH_CLIENTS = 8;

    private final BenchDatabase database;
    private final AtomicLong ids = new AtomicLong();

    private RawInserts(BenchDatabase database) {
        this.database = database;
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        RawInserts inserts = new RawInserts(task.database());
        inserts.singleRows(task, Workload.RAW, CLIENTS);
        inserts.batches(task);
    }

    /**
     * Measures single rows once more, right before a workload that is compared with them, because the speed of a shared
     * machine changes.
     */
    public static Measurement baselineFor(Workload workload, Integer... clients) {
        return task -> new RawInserts(task.database()).singleRows(task, workload, List.of(clients));
    }

    private void singleRows(Task task, Workload workload, List<Integer> numbers) throws Exception {
        database.execute("CREATE TABLE step (id bigint PRIMARY KEY, payload bytea NOT NULL)");
        for (int clients : numbers) {
            try (HikariDataSource pool = database.pool(clients)) {
                report(task, workload + ".insert1.c" + clients, clients, 1, () -> insertOne(pool));
            }
        }
    }

    private void batches(Task task) throws Exception {
        try (HikariDataSource pool = database.pool(BATCH_CLIENTS)) {
            report(task, "raw.batch1000", BATCH_CLIENTS, BATCH, () -> insertBatch(pool));
        }
    }

    private static void report(Task task, String metric, int clients, int rows, Load.Action action) throws Exception {
        task.results().progress(metric);
        Load.of(clients, task.scale().warmUp().dividedBy(2), action);
        Rounds<Metered<Load>> rounds = Rounds.of(
                task,
                () -> task.meter().measure(() -> Load.of(clients, task.scale().round(), action)));
        rounds.figure(metric, Unit.PER_SECOND, round -> round.result().perSecond() * rows);
        rounds.cost(metric, round -> round.cost().per(round.result().operations() * rows));
    }

    private void insertOne(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO step VALUES (?, ?)")) {
            insert.setLong(1, ids.getAndIncrement());
            insert.setBytes(2, PAYLOAD);
            insert.execute();
        }
    }

    private void insertBatch(HikariDataSource pool) throws SQLException {
        Long[] keys = new Long[BATCH];
        byte[][] payloads = new byte[BATCH][];
        for (int i = 0; i < BATCH; i++) {
            keys[i] = ids.getAndIncrement();
            payloads[i] = PAYLOAD;
        }
        try (Connection connection = pool.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO step SELECT * FROM unnest(?::bigint[], ?::bytea[])")) {
            insert.setArray(1, connection.createArrayOf("bigint", keys));
            insert.setArray(2, connection.createArrayOf("bytea", payloads));
            insert.execute();
        }
    }
}
