package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.Diamond.Joined;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.WorkerProcess;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * DAGs on real processes: joins whose parents end at the same moment on two of them; DAGs that wait in the middle; maps.
 * Longer with {@code -Ddag.diamonds=1000 -Ddag.waiters=10000 -Ddag.items=10000}.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class DagIT {
    private static final int DIAMONDS = Integer.getInteger("dag.diamonds", 100);
    private static final int WAITERS = Integer.getInteger("dag.waiters", 200);
    private static final int ITEMS = Integer.getInteger("dag.items", 200);
    private static final int BYTES_FOR_EACH_WAITER = 1_024;
    private static final int BYTES_FOR_THE_ENGINE = 8 * 1024 * 1024;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Topic<String> GO = Topic.of(Diamond.GO, String.class);

    @Test
    @Tag("thorough")
    void joins_whose_parents_end_at_the_same_moment_on_two_processes_run_once() throws Exception {
        try (Field field = new Field();
                WorkerProcess one = field.worker().ready();
                WorkerProcess two = field.worker().ready()) {
            List<DagRun<Joined>> runs = field.start();
            field.awaitMiddles();
            assertThat(field.client.emit(GO, "now")).isEqualTo(2 * DIAMONDS);
            Map<String, Map<String, List<Line>>> lines = field.ended(runs);
            assertThat(lines.values())
                    .allSatisfy(tasks -> assertThat(tasks.values())
                            .allSatisfy(bodies -> assertThat(bodies).hasSize(1)));
            System.out.printf("DAGs: %d joins on processes %d and %d, each ran once%n", DIAMONDS, one.pid(), two.pid());
        }
    }

    @Test
    @Tag("thorough")
    void dags_that_wait_in_the_middle_hold_nothing() throws Exception {
        Dag<Integer, Integer> waiting = Dag.of("waiting", Integer.class, dag -> {
            var first = dag.task("first", t -> t.input());
            return dag.after(first).task("second", (t, number) -> number + 1).waitForEvent(Diamond.GO);
        });
        try (Field field = new Field();
                Perdure worker = Perdure.on(field.store)
                        .register(waiting)
                        .warmWindow(Duration.ZERO)
                        .start()) {
            assertThat(worker.emit(GO, "nobody waits")).isZero();
            long heapBefore = heap();
            int threadsBefore = threads();
            startWaiting(worker, waiting);
            field.awaitSuspended(WAITERS);
            assertThat(field.count("SELECT count(*) FROM perdure.held"))
                    .as("runs in memory")
                    .isZero();
            long heap = heap() - heapBefore;
            int threads = threads() - threadsBefore;
            System.out.printf(
                    "DAGs: %d wait in the middle; heap grew by %d bytes, %d for each; %d platform threads more%n",
                    WAITERS, heap, heap / WAITERS, threads);
            assertThat(heap).isLessThan(BYTES_FOR_THE_ENGINE + (long) WAITERS * BYTES_FOR_EACH_WAITER);
            assertThat(threads).isLessThan(WAITERS / 10);
            assertThat(worker.emit(GO, "now")).isEqualTo(WAITERS);
            for (int i = 0; i < WAITERS; i++) {
                RunId id = RunId.of("waiting-" + i);
                assertThat(worker.run(id, TypeRef.of(Integer.class)).result(PATIENCE))
                        .isEqualTo(i + 1);
            }
        }
    }

    /** Keeps no handle. */
    private static void startWaiting(Perdure worker, Dag<Integer, Integer> dag) {
        var unused = worker.startAll(
                IntStream.range(0, WAITERS).boxed().toList(),
                number -> Invocation.of(dag, number),
                number -> StartOptions.id("waiting-" + number));
    }

    /** What is in use right after a collection. */
    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null)
                .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                .sum();
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    @Test
    void a_map_gives_the_result_of_every_item_in_order() throws Exception {
        Dag<Integer, List<Integer>> mapping = Dag.of("mapping", Integer.class, dag -> {
            var items = dag.task(
                            "items", t -> IntStream.range(0, t.input()).boxed().toList())
                    .returning(new TypeRef<List<Integer>>() {});
            return dag.forEach(items)
                    .task("square", (t, number) -> number * number)
                    .parallelism(200);
        });
        try (Field field = new Field();
                Perdure worker = Perdure.on(field.store).register(mapping).start()) {
            long began = System.nanoTime();
            assertThat(worker.start(mapping, ITEMS).result(PATIENCE))
                    .isEqualTo(IntStream.range(0, ITEMS).map(i -> i * i).boxed().toList());
            System.out.printf(
                    "DAGs: a map over %d items in %d ms%n",
                    ITEMS, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
        }
    }

    /** A database with a ledger in it, and a client. */
    private static final class Field implements AutoCloseable {
        private final SharedPostgres.Fresh database = SharedPostgres.database("dags");
        private final HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
        private final PostgresStore store = PostgresStore.on(pool).open();
        private final Perdure client = Perdure.on(store).client();
        private final HikariDataSource ledgerPool =
                SmallPool.of(database.jdbcUrl(), database.user(), database.password());
        private final OutsideLedger ledger = new OutsideLedger(ledgerPool);

        Field() throws SQLException {
            ledger.create();
        }

        WorkerProcess worker() throws Exception {
            return WorkerProcess.start(DagWorker.class, database);
        }

        List<DagRun<Joined>> start() {
            Dag<Integer, Joined> diamond = Diamond.dag(ledger);
            return IntStream.range(0, DIAMONDS)
                    .mapToObj(number -> client.start(diamond, number, StartOptions.id("diamond-" + number)))
                    .toList();
        }

        /** Until both middles of every diamond wait. */
        void awaitMiddles() {
            awaitSuspended(2 * DIAMONDS);
        }

        void awaitSuspended(int count) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> count("SELECT count(*) FROM perdure.run WHERE state = 3") == count);
        }

        /** Every DAG ends with what bodies gave, and no join began before both its parents were recorded. */
        Map<String, Map<String, List<Line>>> ended(List<DagRun<Joined>> runs) throws SQLException {
            List<Joined> results = new ArrayList<>();
            for (DagRun<Joined> run : runs) {
                results.add(run.result(PATIENCE));
            }
            Map<String, Map<String, List<Line>>> lines = new HashMap<>();
            for (Line line : ledger.lines()) {
                lines.computeIfAbsent(line.run(), unseen -> new HashMap<>())
                        .computeIfAbsent(line.step(), unseen -> new ArrayList<>())
                        .add(line);
            }
            for (int i = 0; i < runs.size(); i++) {
                Map<String, List<Line>> tasks = lines.get(runs.get(i).id().value());
                Joined joined = results.get(i);
                assertThat(tasks.get("left")).extracting(Line::value).contains(joined.left());
                assertThat(tasks.get("right")).extracting(Line::value).contains(joined.right());
                assertThat(tasks.get("join")).extracting(Line::value).contains(joined.own());
                Line firstJoin = tasks.get("join").getFirst();
                assertThat(tasks.get("left"))
                        .as("no parent runs once its join has begun")
                        .allMatch(line -> line.at().isBefore(firstJoin.at()));
                assertThat(tasks.get("right")).allMatch(line -> line.at().isBefore(firstJoin.at()));
            }
            return lines;
        }

        long count(String sql) throws SQLException {
            try (Connection connection = pool.getConnection();
                    PreparedStatement query = connection.prepareStatement(sql);
                    var row = query.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }

        @Override
        public void close() {
            client.close();
            store.close();
            pool.close();
            ledgerPool.close();
            database.close();
        }
    }
}
