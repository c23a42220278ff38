package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Queue;
import dev.perdure.postgres.PostgresStore;
import java.util.List;
import java.util.function.IntConsumer;

/** Perdure across processes: a client starts jobs, a worker runs them. */
public class PerdureQueue implements Queue {
    private final dev.perdure.queue.Queue queue;
    private final int keys;

    /** A queue that is limited to 64 jobs at once. */
    public static final class Limited extends PerdureQueue {
        /** For the worker's process, too. */
        public Limited() {
            super(dev.perdure.queue.Queue.named("limited").concurrency(64), 0);
        }
    }

    /** A queue of 1,000 keys, with two jobs of each at once. */
    public static final class Keyed extends PerdureQueue {
        /** For the worker's process, too. */
        public Keyed() {
            super(dev.perdure.queue.Queue.named("keyed").perKey(2), 1_000);
        }
    }

    /** The default queue, without limits. */
    public PerdureQueue() {
        this(dev.perdure.queue.Queue.named(StartOptions.DEFAULT_QUEUE), 0);
    }

    /** @param keys over how many keys the jobs are spread, or 0 */
    private PerdureQueue(dev.perdure.queue.Queue queue, int keys) {
        this.queue = queue;
        this.keys = keys;
    }

    static Definition<Integer, Integer> job(IntConsumer begins) {
        return Definition.of(
                "job",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("begin", () -> {
                    begins.accept(number);
                    return number;
                }));
    }

    private StartOptions options(int number) {
        StartOptions options = StartOptions.defaults().queue(queue.name());
        return keys == 0 ? options : options.key("key-" + number % keys);
    }

    @Override
    public Producer producer(BenchDatabase database) {
        HikariDataSource pool = database.pool();
        PostgresStore store = PostgresStore.on(pool).open();
        Perdure client = Perdure.on(store).client();
        Definition<Integer, Integer> job = job(number -> {});
        return new Producer() {
            @Override
            public void start(List<Integer> numbers) {
                client.startAll(numbers, number -> Invocation.of(job, number), PerdureQueue.this::options);
            }

            @Override
            public void close() {
                client.close();
                store.close();
                pool.close();
            }
        };
    }

    @Override
    public Consumer consumer(BenchDatabase database, IntConsumer begins) {
        HikariDataSource pool = database.pool();
        PostgresStore store = PostgresStore.on(pool).open();
        Perdure worker = Perdure.on(store).register(job(begins)).queues(queue).start();
        return () -> {
            worker.close();
            store.close();
            pool.close();
        };
    }

    @Override
    public String unfinished() {
        return "SELECT (SELECT count(*) FROM perdure.ready) + (SELECT count(*) FROM perdure.held)";
    }
}
