package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The store in memory and PostgreSQL let the same runs begin at the same times, whatever rates a queue has had.
 *
 * <p>How it works: both are told the same every seven seconds. PostgreSQL counts a unit longer by up to a 128th of the
 * window. The period is chosen so that no window of these rates ends so shortly before a moment at which they are asked.
 * All runs have one key, because stores may break ties between the turns of keys in different ways.
 * PostgreSQL also counts what it has not removed yet when a rate gets longer, so the test removes it.
 */
final class RatesAgreeIT {
    private static final int HISTORIES = 2;
    private static final int STEPS = 40;
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration STEP = Duration.ofSeconds(7);
    private static final Duration PERIOD = Duration.ofMillis(12_800);
    private static final int[][] RATES = {{10, 10}, {10, 6}, {10, 2}, {7, 3}, {9, 4}, {5, 3}, {100, 60}, {5, 1}, {2, 2}
    };

    private static String schema;
    private static HikariDataSource pool;

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGINNING);

    @BeforeAll
    static void openPool() {
        schema = TestServer.newSchema();
        pool = TestServer.pool(4);
        PostgresStore.on(pool).schema(schema).notifications(false).open().close();
    }

    @AfterAll
    static void closePool() {
        pool.close();
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, HISTORIES);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void both_stores_let_the_same_runs_begin(long seed) {
        TestServer.empty(schema);
        try (Store inMemory = new MemoryStore(clockwork());
                Store postgres = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .time(now::get)
                        .open()) {
            List<StoreFixture> both = List.of(new StoreFixture(inMemory), new StoreFixture(postgres));
            Random random = new Random(seed);
            List<String> told = new ArrayList<>();
            int begun = 0;
            tell(both, told, rates(random));
            for (int step = 0; step < STEPS; step++) {
                now.updateAndGet(time -> time.plus(STEP));
                forgetExpired();
                if (random.nextInt(8) == 0) {
                    tell(both, told, rates(random));
                }
                for (int i = random.nextInt(4); i > 0; i--) {
                    start(both, told, run("r%d-%d".formatted(step, i), random));
                }
                List<String> expected = claimed(both.getFirst());
                told.add("%s: %s begin".formatted(now, expected));
                assertThat(claimed(both.getLast()))
                        .as("seed %d: %s", seed, told)
                        .isEqualTo(expected);
                begun += expected.size();
            }
            assertThat(begun).isPositive();
        }
    }

    private static Queue rates(Random random) {
        int[] ofQueue = RATES[random.nextInt(RATES.length)];
        int[] ofKey = RATES[random.nextInt(RATES.length)];
        return Queue.named("default")
                .rate(ofQueue[0], PERIOD)
                .burst(ofQueue[1])
                .ratePerKey(ofKey[0], PERIOD)
                .burstPerKey(ofKey[1]);
    }

    private static NewRun run(String id, Random random) {
        int weight = random.nextInt(random.nextInt(6) == 0 ? 25 : 4);
        return StoreFixture.newRun(id)
                .withAdmission(new Admission(null, weight))
                .withQueueKey("k");
    }

    private static void tell(List<StoreFixture> both, List<String> told, Queue rates) {
        boolean first = told.isEmpty();
        told.add(rates.toString());
        for (StoreFixture each : both) {
            if (first) {
                each.store.queues().declare(List.of(rates));
            } else {
                each.store.queues().apply(new Order.Limit(rates));
            }
        }
    }

    private static void start(List<StoreFixture> both, List<String> told, NewRun run) {
        told.add("%s weighs %d".formatted(run.id(), run.admission().weight()));
        both.forEach(each -> each.apply(new Change.Start(run, null)));
    }

    private Clockwork clockwork() {
        return (Clockwork) Proxy.newProxyInstance(
                Clockwork.class.getClassLoader(),
                new Class<?>[] {Clockwork.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "now" -> now.get();
                    case "nanoTime" -> System.nanoTime();
                    case "random" -> 0L;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private void forgetExpired() {
        TestServer.execute("DELETE FROM %s.queue_rate WHERE expires_at <= '%s'".formatted(schema, now));
    }

    private static List<String> claimed(StoreFixture each) {
        List<Claimed> claimed = each.store.dispatch().poll(each.poll(100)).claimed();
        claimed.forEach(run -> each.apply(StoreFixture.completeAndGoOn(run)));
        return claimed.stream().map(run -> run.run().id().value()).toList();
    }
}
