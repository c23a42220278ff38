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

/** Perdure across processes: a client starts jobs, a worker runs them. Nine connections in total. */
public final class PerdureQueue implements Queue {
    private static final int CLIENT_CONNECTIONS = 3;

    private static Definition<Integer, Integer> job(IntConsumer begins) {
        return Definition.of(
                "job",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("begin", () -> {
                    begins.accept(number);
                    return number;
                }));
    }

    @Override
    public Producer producer(BenchDatabase database) {
        HikariDataSource pool = database.pool(CLIENT_CONNECTIONS);
        PostgresStore store = PostgresStore.on(pool).lanes(1).open();
        Perdure client = Perdure.on(store).client();
        Definition<Integer, Integer> job = job(number -> {});
        return new Producer() {
            @Override
            public void start(List<Integer> numbers) {
                client.startAll(numbers, number -> Invocation.of(job, number), number -> StartOptions.defaults());
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
        HikariDataSource pool = database.pool(PerdureSteps.CONNECTIONS - CLIENT_CONNECTIONS);
        PostgresStore store = PostgresStore.on(pool).open();
        Perdure worker = Perdure.on(store).register(job(begins)).start();
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
