package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunChange;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Sleepers;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Sleeping workflows of Perdure. It starts them in batches, as an application with a million of them would. */
public final class PerdureSleepers implements Sleepers {
    private static final int BATCH = 1_000;
    private static final int STARTERS = 4;
    private static final Definition<Long, @Nullable Void> SLEEPER =
            Definition.of("sleeper", Long.class, (ctx, millis) -> ctx.sleep(Duration.ofMillis(millis)));

    private final AtomicLong asleep = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final HikariDataSource pool;
    private final PostgresStore store;
    private final Perdure perdure;
    private long wanted;

    private PerdureSleepers(BenchDatabase database) {
        pool = database.pool();
        store = PostgresStore.on(pool).open();
        perdure = Perdure.on(store).register(SLEEPER).listener(this::count).start();
    }

    /** Sets up a worker. */
    public static Sleepers open(BenchDatabase database) {
        return new PerdureSleepers(database);
    }

    private void count(RunChange change) {
        switch (change.state()) {
            case SUSPENDED -> asleep.incrementAndGet();
            case COMPLETED -> ended.incrementAndGet();
            case PENDING, READY, RUNNING, BACKING_OFF, PAUSED, FAILED, CANCELLED, SKIPPED -> {}
        }
    }

    @Override
    public void sleep(int count, Instant until) throws Exception {
        AtomicLong left = new AtomicLong(count);
        List<Future<?>> starters = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < STARTERS; i++) {
                starters.add(executor.submit(() -> startAll(left, until)));
            }
        }
        for (Future<?> starter : starters) {
            starter.get();
        }
        wanted += count;
        await(asleep, wanted);
    }

    private void startAll(AtomicLong left, Instant until) {
        long before = left.getAndAdd(-BATCH);
        while (before > 0) {
            int size = (int) Math.min(BATCH, before);
            long millis = Sleepers.until(until).toMillis();
            perdure.startAll(
                    Collections.nCopies(size, millis),
                    each -> Invocation.of(SLEEPER, each),
                    each -> StartOptions.defaults());
            before = left.getAndAdd(-BATCH);
        }
    }

    @Override
    public void awaitEnded(long count) throws Exception {
        await(ended, count);
    }

    private static void await(AtomicLong counter, long count) throws InterruptedException {
        while (counter.get() < count) {
            Thread.sleep(Duration.ofMillis(2));
        }
    }

    @Override
    public void close() {
        perdure.close();
        store.close();
        pool.close();
    }
}
