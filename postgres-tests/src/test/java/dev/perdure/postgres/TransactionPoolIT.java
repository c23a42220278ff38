package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many runs, few connections. */
final class TransactionPoolIT {
    private static final int RUNS = 150;

    @Test
    void many_runs_on_two_connections_beside_the_engines_two_make_progress_every_second() {
        String schema = TestServer.newSchema();
        ConcurrentSkipListSet<Long> committed = new ConcurrentSkipListSet<>();
        AtomicInteger inBodies = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (HikariDataSource pool = TestServer.pool(2);
                HikariDataSource applicationPool = TestServer.pool(2);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .lanes(1)
                        .notifications(false)
                        .open()) {
            TestServer.execute("CREATE TABLE %s.done (number int)".formatted(schema));
            TransactionSource<Connection> application = PostgresTransactions.on(store, applicationPool);
            Definition<Integer, Integer> child = Definition.of("child", Integer.class, Integer.class, (ctx, number) -> {
                ctx.transact("insert", application, insert(schema, number));
                committed.add(System.nanoTime());
                return number;
            });
            Definition<Integer, Integer> flow = Definition.of("flow", Integer.class, Integer.class, (ctx, number) -> {
                for (int i = 0; i < 2; i++) {
                    ctx.transact("insert", application, connection -> {
                        most.accumulateAndGet(inBodies.incrementAndGet(), Math::max);
                        try {
                            insert(schema, number).run(connection);
                        } finally {
                            inBodies.decrementAndGet();
                        }
                    });
                    committed.add(System.nanoTime());
                    ctx.step("something else", () -> {});
                }
                return ctx.call(Invocation.of(child, number));
            });
            long begun = System.nanoTime();
            try (Perdure perdure = Perdure.on(store)
                    .register(flow, child)
                    .lease(Duration.ofSeconds(3))
                    .start()) {
                List<Run<Integer>> runs = perdure.startAll(
                        IntStream.range(0, RUNS).boxed().toList(),
                        input -> Invocation.of(flow, input),
                        input -> StartOptions.defaults());
                runs.forEach(run -> run.result(Duration.ofMinutes(2)));
            }
            System.out.printf(
                    "starvation: %d transaction steps on 2 connections, a third of them in children, in %d ms%n",
                    RUNS * 3, Duration.ofNanos(System.nanoTime() - begun).toMillis());
        }
        assertThat(TestServer.query("SELECT count(*) FROM %s.done".formatted(schema)))
                .isEqualTo(Integer.toString(RUNS * 3));
        assertThat(most).as("bodies at the same time").hasValueLessThanOrEqualTo(2);
        assertThat(longestPause(committed))
                .as("the longest time without a commit")
                .isLessThan(Duration.ofSeconds(1));
        assertThat(TestServer.query("SELECT count(*) FROM %s.event WHERE reason IS NOT NULL".formatted(schema)))
                .as("runs that were taken from their worker")
                .isEqualTo("0");
    }

    private static TransactionAction<Connection> insert(String schema, int number) {
        return connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO %s.done VALUES (%d)".formatted(schema, number));
            }
        };
    }

    private static Duration longestPause(ConcurrentSkipListSet<Long> committed) {
        long longest = 0;
        long last = committed.first();
        for (long at : committed) {
            longest = Math.max(longest, at - last);
            last = at;
        }
        return Duration.ofNanos(longest);
    }
}
