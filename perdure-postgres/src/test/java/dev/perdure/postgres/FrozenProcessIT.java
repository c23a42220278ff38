package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process may stand still, or be cut off, between any two lines of a transaction that holds up others. */
@Timeout(120)
final class FrozenProcessIT {
    private static final Limit LIMIT = new Limit(Kind.QUEUE, "default");
    private static final Division DIVISION = new Division(1, 4, List.of("a", "b"));

    private final CountDownLatch frozen = new CountDownLatch(1);
    private final CountDownLatch thawed = new CountDownLatch(1);
    private volatile boolean freezes;

    /** Connections that stand still before they commit. */
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
        if (freezes && method.equals("commit")) {
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
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
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
            freezes = true;
            CompletableFuture<OptionalLong> giving =
                    CompletableFuture.supplyAsync(() -> places(other).give(new Request(LIMIT, 1, "b", 0, 1, 0)));
            frozen.await();

            assertThat(here.dispatch().poll(fixture.poll(10)).claimed()).isEmpty();
            await().atMost(Duration.ofSeconds(30)).until(() -> !here.dispatch()
                    .poll(fixture.poll(10))
                    .claimed()
                    .isEmpty());
            thawed.countDown();
            assertThat(giving.get()).as("the same once more, of what is free now").hasValue(1);
            assertThat(places(here).share(LIMIT).orElseThrow().places()).isEqualTo(1);
        } finally {
            thawed.countDown();
        }
    }
}
