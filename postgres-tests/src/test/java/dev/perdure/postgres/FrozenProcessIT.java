package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.shard.PartitionMove;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Division;
import dev.perdure.spi.shard.Places.Kind;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Request;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process may stand still, or be cut off, between any two lines of a transaction that holds up others. */
@Timeout(120)
final class FrozenProcessIT {
    private static final Limit LIMIT = new Limit(Kind.QUEUE, "default");
    private static final Division DIVISION = new Division(1, 4, List.of("a", "b"));

    /** A partition in which nothing is started here. */
    private static final int OTHER = Partitions.of(RunId.of("one")) ^ 1;

    private final CountDownLatch frozen = new CountDownLatch(1);
    private final CountDownLatch thawed = new CountDownLatch(1);
    /** How many commits come before the one that stands still. */
    private final AtomicInteger before = new AtomicInteger(Integer.MAX_VALUE);

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void thaw() {
        thawed.countDown();
        threads.close();
    }

    /** Connections of which one stands still before it commits. */
    private DataSource freezing(DataSource source) {
        return proxy(
                DataSource.class,
                source,
                method -> {},
                (method, answer) -> method.equals("getConnection")
                        ? proxy(Connection.class, (Connection) answer, this::stand, (of, same) -> same)
                        : answer);
    }

    private void stand(String method) {
        if (method.equals("commit") && before.getAndDecrement() == 0) {
            frozen.countDown();
            try {
                thawed.await();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }
    }

    private static <T> T proxy(
            Class<T> type, T real, Consumer<String> before, BiFunction<String, Object, Object> changed) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    before.accept(method.getName());
                    try {
                        return changed.apply(method.getName(), method.invoke(real, arguments));
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                }));
    }

    private static Places places(PostgresStore store) {
        return store.exchange().orElseThrow().places();
    }

    @Test
    void claims_go_on_although_a_process_stands_still_while_it_moves_places() throws Exception {
        String name = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(4);
                PostgresStore here =
                        PostgresStore.on(pool).schema(name).notifications(false).open();
                PostgresStore other = PostgresStore.on(freezing(TestServer.plain()))
                        .schema(name)
                        .notifications(false)
                        .open()) {
            places(here).open(LIMIT, Map.of("concurrency", "0", "whole:concurrency", "4", "shards", "2"), DIVISION, 2);
            StoreFixture fixture = new StoreFixture(here);
            here.ledger().apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("one"), null)));
            before.set(0);
            Future<OptionalLong> giving = threads.submit(() -> places(other).give(new Request(LIMIT, 1, "b", 0, 1, 0)));
            frozen.await();

            assertThat(here.dispatch().poll(fixture.poll(10)).claimed()).isEmpty();
            await().atMost(Duration.ofSeconds(30))
                    .until(() ->
                            !here.dispatch().poll(fixture.poll(10)).claimed().isEmpty());
            thawed.countDown();
            assertThat(giving.get())
                    .as("the same once more, of what is free now")
                    .hasValue(1);
            assertThat(places(here).share(LIMIT).orElseThrow().places()).isEqualTo(1);
        }
    }

    @Test
    void work_goes_on_although_a_process_stands_still_while_it_closes_a_partition() throws Exception {
        String name = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(4);
                PostgresStore here =
                        PostgresStore.on(pool).schema(name).notifications(false).open();
                ShardServer server = new ShardServer("a", freezing(TestServer.plain()), new Schema(name))) {
            PartitionMove move = new PartitionMove(OTHER, server, server, sentence -> {});
            before.set(1); // it reads which tables there are, and then locks them
            Future<?> expecting = threads.submit(move::expect);
            frozen.await();

            Future<Outcome> started = threads.submit(() -> here.ledger()
                    .apply(Lane.client(0), List.of(new Change.Start(StoreFixture.newRun("one"), null)))
                    .getFirst());
            assertThat(started).succeedsWithin(Duration.ofSeconds(30)).isInstanceOf(Outcome.Started.class);
            thawed.countDown();
            expecting.get();
        }
    }
}
