package dev.perdure.cli.demo;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.postgres.PostgresStore;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shows what 10,000 sleeping workflows cost this JVM. */
final class Sleepers {
    private static final int COUNT = 10_000;
    private static final int DAYS = 30;
    private static final long MOST_BYTES_EACH = 50;
    private static final Definition<Integer, @Nullable Void> SLEEPER =
            Definition.of("demo-sleep", Integer.class, (ctx, days) -> ctx.sleep(Duration.ofDays(days)));

    private final Screen screen;
    private final PostgresStore store;

    Sleepers(Screen screen, PostgresStore store) {
        this.screen = screen;
        this.store = store;
    }

    void show() throws InterruptedException {
        screen.headline(String.format(Locale.ROOT, "%,d workflows that sleep for %s days", COUNT, DAYS));
        try (Perdure worker = Perdure.on(store).register(SLEEPER).start()) {
            start(worker, 500);
            awaitAsleep(worker, 500);
            long heapBefore = heap();
            int threadsBefore = threads();
            long began = System.nanoTime();
            start(worker, COUNT);
            awaitAsleep(worker, 500 + COUNT);
            double seconds = Duration.ofNanos(System.nanoTime() - began).toMillis() / 1000.0;
            screen.line(String.format(
                    Locale.ROOT,
                    "All started and suspended after %.1f s (%,.0f per second).",
                    seconds,
                    COUNT / seconds));
            long heapEach = Math.max(0, heap() - heapBefore) / COUNT;
            int threads = threads() - threadsBefore;
            screen.line("They hold %s threads, and %s bytes of heap per workflow."
                    .formatted(Math.max(0, threads), heapEach));
            screen.check(threads <= 2, "a sleeping workflow holds no thread");
            screen.check(heapEach < MOST_BYTES_EACH, "and less than %s bytes of heap".formatted(MOST_BYTES_EACH));
        }
    }

    private static void start(Perdure worker, int count) {
        List<Integer> inputs = Collections.nCopies(count, DAYS);
        worker.startAll(inputs, days -> Invocation.of(SLEEPER, days), days -> StartOptions.defaults());
    }

    private static void awaitAsleep(Perdure worker, int count) throws InterruptedException {
        RunFilter asleep = RunFilter.all()
                .definition(SLEEPER.name())
                .state(RunState.SUSPENDED)
                .limit(10_000);
        int wanted = Math.min(count, 10_000);
        while (worker.runs(asleep).list().size() < wanted) {
            Thread.sleep(Duration.ofMillis(100));
        }
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long heap() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(Duration.ofMillis(100));
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
