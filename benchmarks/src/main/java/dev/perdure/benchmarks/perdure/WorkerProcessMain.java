package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One of several worker processes on one database. It runs jobs of a queue, and has callers of its own. */
public final class WorkerProcessMain {
    private final BenchDatabase database;
    private final AtomicLong firstBegan = new AtomicLong(Long.MAX_VALUE);
    private @Nullable HikariDataSource pool;
    private @Nullable PostgresStore store;
    private @Nullable Perdure perdure;

    private WorkerProcessMain(BenchDatabase database) {
        this.database = database;
    }

    /** Arguments: the database (see {@link Jvm}). */
    public static void main(String... args) throws Exception {
        WorkerProcessMain worker = new WorkerProcessMain(Jvm.database(args));
        ChildProcess.answer(command -> worker.obey(command.split(" ")));
    }

    private String obey(String... words) throws Exception {
        return switch (words[0]) {
            case "open" -> open();
            case "load" -> load(Integer.parseInt(words[1]), Duration.ofMillis(Long.parseLong(words[2])));
            case "first" -> Long.toString(firstBegan.getAndSet(Long.MAX_VALUE));
            case "close" -> close();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String open() {
        pool = database.pool();
        store = PostgresStore.on(pool).open();
        perdure = Perdure.on(store)
                .register(PerdureSteps.STEPS)
                .register(PerdureQueue.job(number -> firstBegan.accumulateAndGet(Timestamps.now(), Math::min)))
                .queues(Queue.named(StartOptions.DEFAULT_QUEUE), Workers.DRAINED)
                .start();
        return "open";
    }

    /** Operations, and how many a second. */
    private String load(int callers, Duration time) throws Exception {
        Perdure open = Objects.requireNonNull(perdure);
        Load load = Load.of(callers, time, () -> PerdureSteps.run(open, 1));
        return load.operations() + " " + load.perSecond();
    }

    private String close() {
        Objects.requireNonNull(perdure).close();
        Objects.requireNonNull(store).close();
        Objects.requireNonNull(pool).close();
        return "closed";
    }
}
