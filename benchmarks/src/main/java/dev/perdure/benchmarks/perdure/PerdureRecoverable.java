package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Recoverable;
import dev.perdure.postgres.PostgresStore;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Workflows of Perdure that survive their process. */
public final class PerdureRecoverable implements Recoverable {
    private static Definition<Integer, Integer> workflow(IntConsumer sixth) {
        return Definition.of("recoverable", Integer.class, Integer.class, (ctx, number) -> {
            for (int i = 0; i < STEPS; i++) {
                ctx.step("step", () -> number);
            }
            ctx.step("sixth", () -> sixth.accept(number));
            return number;
        });
    }

    @Override
    public Host open(BenchDatabase database, IntConsumer sixth) {
        HikariDataSource pool = database.pool();
        PostgresStore store = PostgresStore.on(pool).open();
        Definition<Integer, Integer> workflow = workflow(sixth);
        Perdure perdure = Perdure.on(store).register(workflow).start();
        return new Host() {
            @Override
            public void start(int count) {
                perdure.startAll(
                        IntStream.range(0, count).boxed().toList(),
                        each -> Invocation.of(workflow, each),
                        each -> StartOptions.defaults());
            }

            @Override
            public void close() {
                perdure.close();
                store.close();
                pool.close();
            }
        };
    }

    @Override
    public String unfinished() {
        return "SELECT (SELECT count(*) FROM perdure.ready) + (SELECT count(*) FROM perdure.held)";
    }
}
