package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.IntStream;

/**
 * What limits of queues do to other runs: a rate, a new key beside a key with many runs, and a queue beside one whose
 * runs may not begin. Client and worker are in one process.
 */
public final class QueueLimits {
    private static final int RATE = 1_000;
    private static final int PER_START = 1_000;
    private static final int PER_INSERT = 250_000;
    private static final int PAUSES = 20;
    private static final int ROUNDS = 3;

    private final Task task;
    private final PostgresStore store;
    private final Perdure client;
    private final ConcurrentMap<Integer, Long> begun = new ConcurrentHashMap<>();
    private final Definition<Integer, Integer> job = PerdureQueue.job(number -> begun.put(number, System.nanoTime()));
    private int numbers;

    private QueueLimits(Task task, PostgresStore store, Perdure client) {
        this.task = task;
        this.store = store;
        this.client = client;
    }

    /** Measures all of it. */
    public static void measure(Task task) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            QueueLimits limits = new QueueLimits(task, store, client);
            limits.rate();
            limits.newKey();
            limits.backlog();
        }
    }

    private Perdure worker(Queue... queues) {
        return Perdure.on(store).register(job).queues(queues).start();
    }

    private StartOptions in(Queue queue) {
        return StartOptions.defaults().queue(queue.name());
    }

    private void start(int count, StartOptions options) {
        for (int from = 0; from < count; from += PER_START) {
            List<Integer> some = IntStream.range(0, Math.min(PER_START, count - from))
                    .mapToObj(i -> numbers++)
                    .toList();
            client.startAll(some, number -> Invocation.of(job, number), number -> options);
        }
    }

    /** How many begin in a second, and the most in any second, by the clock of the database. */
    private void rate() throws Exception {
        task.results().progress("queues.rate");
        int seconds = task.scale().choose(30, 10, 1);
        Queue rated = Queue.named("rated").rate(RATE, Duration.ofSeconds(1));
        client.queues().declare(rated);
        client.queues().pause("rated", "until all are started");
        start(RATE * (seconds + 1), in(rated));
        int before = begun.size();
        try (Perdure worker = worker(rated)) {
            worker.queues().resume("rated");
            while (begun.size() - before < RATE * (seconds + 1)) {
                Thread.sleep(Duration.ofMillis(100));
            }
        }
        BenchDatabase database = task.database();
        // With the statistics of before, one of the queries below once ran for more than ten minutes.
        database.execute("ANALYZE");
        task.results()
                .figure("queues.rate", Unit.PER_SECOND, (double) database.number(BEGUN.formatted(seconds)) / seconds);
        task.results().figure("queues.rate.most", Unit.COUNT, (double) database.number(MOST));
    }

    /** When each run of the queue was first taken. */
    private static final String TAKEN = """
            WITH taken AS MATERIALIZED (
                SELECT e.id, min(e.at) AS at FROM perdure.events e JOIN perdure.runs r ON r.id = e.id
                WHERE r.queue = 'rated' AND e.state = 'RUNNING' GROUP BY e.id
            )
            """;

    private static final String BEGUN =
            TAKEN + "SELECT count(*) FROM taken WHERE at < (SELECT min(at) FROM taken) + interval '%d seconds'";

    private static final String MOST = TAKEN + """
            SELECT max(n) FROM (
                SELECT count(*) OVER (ORDER BY at RANGE BETWEEN CURRENT ROW AND interval '999999 microseconds' FOLLOWING) AS n FROM taken
            ) AS seconds
            """;

    /** From the start of a run until it begins, one after another. */
    private long[] latencies(Perdure worker, int count, Queue queue, boolean newKeys) throws InterruptedException {
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            int number = numbers++;
            StartOptions options = newKeys ? in(queue).key("new-" + number) : in(queue);
            long from = System.nanoTime();
            worker.start(Invocation.of(job, number), options).result();
            nanos[i] = Objects.requireNonNull(begun.get(number)) - from;
            Thread.sleep(Duration.ofMillis(PAUSES));
        }
        Arrays.sort(nanos);
        return nanos;
    }

    private void newKey() throws Exception {
        task.results().progress("queues.newkey");
        Queue shared = Queue.named("shared").concurrency(64).perKey(1);
        Definition<Integer, Integer> sleeper = Definition.of("sleeper", Integer.class, Integer.class, (ctx, number) -> {
            ctx.sleep(Duration.ofHours(1));
            return number;
        });
        client.queues().declare(shared);
        client.start(Invocation.of(sleeper, 0), in(shared).key("busy").priority(1));
        start(task.scale().choose(100_000, 100_000, 100), in(shared).key("busy"));
        try (Perdure worker =
                Perdure.on(store).register(job, sleeper).queues(shared).start()) {
            int count = task.scale().choose(300, 100, 5);
            latencies(worker, count / 5 + 1, shared, true);
            long[] nanos = latencies(worker, count, shared, true);
            task.results().figure("queues.newkey.p50", Unit.MILLISECONDS, Load.percentile(nanos, 50));
            task.results().figure("queues.newkey.p99", Unit.MILLISECONDS, Load.percentile(nanos, 99));
        }
        client.queues().pause("shared", "measured");
    }

    /** Another queue with limits, before and after a paused queue gets its runs. */
    private void backlog() throws Exception {
        Queue stopped = Queue.named("stopped").concurrency(5);
        Queue other = Queue.named("other").concurrency(1_000);
        client.queues().declare(stopped);
        client.queues().declare(other);
        client.queues().pause("stopped", "measured");
        try (Perdure worker = worker(stopped, other)) {
            task.results().progress("queues.backlog none");
            double[] none = beside(worker, other);
            int count = task.scale().choose(1_000_000, 1_000_000, 1_000);
            task.results().progress("queues.backlog: writing %,d runs".formatted(count));
            fill(task.database(), count);
            task.results().progress("queues.backlog");
            double[] many = beside(worker, other);
            task.results().figure("queues.backlog.latency", Unit.RATIO, many[0] / none[0]);
            task.results().figure("queues.backlog.drain", Unit.RATIO, many[1] / none[1]);
        }
    }

    /** The median latency, and how many a second are drained: the medians of three rounds after one that warms up. */
    private double[] beside(Perdure worker, Queue queue) throws InterruptedException {
        round(worker, queue);
        double[] latencies = new double[ROUNDS];
        double[] drains = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            double[] both = round(worker, queue);
            latencies[i] = both[0];
            drains[i] = both[1];
        }
        Arrays.sort(latencies);
        Arrays.sort(drains);
        return new double[] {latencies[ROUNDS / 2], drains[ROUNDS / 2]};
    }

    private double[] round(Perdure worker, Queue queue) throws InterruptedException {
        Scale scale = task.scale();
        double latency = Load.percentile(latencies(worker, scale.choose(200, 100, 5), queue, false), 50);
        int count = scale.choose(20_000, 5_000, 50);
        worker.queues().pause(queue.name(), "until all are started");
        start(count, in(queue));
        int before = begun.size();
        long from = System.nanoTime();
        worker.queues().resume(queue.name());
        // Not by the load of the queue: to count what waits costs the server more than the work.
        while (begun.size() - before < count) {
            Thread.sleep(Duration.ofMillis(1));
        }
        return new double[] {latency, count * 1e9 / (System.nanoTime() - from)};
    }

    /** Half of them without a key, and half of one key. */
    private static void fill(BenchDatabase database, int count) throws SQLException {
        long block = database.number("SELECT setval('perdure.key_block', nextval('perdure.key_block') + %d / 65536 + 2)"
                        .formatted(count))
                - count / 65_536
                - 1;
        for (long from = 0; from < count; from += PER_INSERT) {
            database.execute(FILL, (block << 24) + (from << 8), Math.min(PER_INSERT, count - from));
        }
        List.of("run", "journal", "ready").forEach(table -> vacuum(database, table));
        database.execute("CHECKPOINT"); // what writing them leaves to do is not what they cost while they wait
    }

    private static void vacuum(BenchDatabase database, String table) {
        try {
            database.execute("VACUUM (ANALYZE) perdure." + table);
        } catch (SQLException trouble) {
            throw new IllegalStateException(trouble);
        }
    }

    private static final String FILL = """
            WITH made AS MATERIALIZED (
                SELECT ? + (n << 8) + (n & 255) AS key, now() AS at, CASE WHEN n % 2 = 0 THEN 'busy' END AS queue_key
                FROM generate_series(0, ? - 1) AS n
            ), runs AS (
                INSERT INTO perdure.run (key, seed, epoch, created_at, changed_at, changes, priority, partition, state, id,
                    definition, queue, queue_key)
                SELECT key, key, 0, at, at, 0, 0, key & 255, 1, 'waiting-' || key, 'job', 'stopped', queue_key FROM made
            ), inputs AS (
                INSERT INTO perdure.journal (key, position, note, partition, at, kind, status, name, payload)
                SELECT key, 0, 0, key & 255, at, 0, 0, '', '1'::bytea FROM made
            )
            INSERT INTO perdure.ready (key, since, rank, partition, alone, queue, definition, version, queue_key)
            SELECT key, at, -1, key & 255, false, 'stopped', 'job', '', queue_key FROM made
            """;
}
