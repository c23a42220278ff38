package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What queues with limits cost: prints what it measured, and fails only if a backlog that may not run delays what may.
 * The sizes: {@code -Dqueues.backlog=100000 -Dqueues.drained=20000}.
 */
@Tag("thorough")
class QueueLoadIT {
    private static final int BACKLOG = Integer.getInteger("queues.backlog", 20_000);
    private static final int DRAINED = Integer.getInteger("queues.drained", 5_000);

    private final ConcurrentMap<String, Long> begun = new ConcurrentHashMap<>();
    private final Definition<String, String> work = Definition.of("work", String.class, String.class, (ctx, in) -> {
        begun.put(in, System.nanoTime());
        return in;
    });

    private void start(Perdure client, String queue, int from, int count, int keys) {
        for (int next = from; next < from + count; next += 1_000) {
            int first = next;
            client.startAll(
                    IntStream.range(first, Math.min(first + 1_000, from + count))
                            .boxed()
                            .toList(),
                    number -> Invocation.of(work, queue + number),
                    number -> {
                        StartOptions options = StartOptions.id(queue + number).queue(queue);
                        return keys == 0 ? options : options.key("key-" + number % keys);
                    });
        }
    }

    private double drain(PostgresStore store, Queue queue, int keys) throws Exception {
        try (Perdure client = Perdure.on(store).declare(queue).client()) {
            start(client, queue.name(), 0, DRAINED, keys);
            int before = begun.size();
            long from = System.nanoTime();
            try (Perdure worker = Perdure.on(store).register(work).queues(queue).start()) {
                // Not by the load of the queue: to count what waits twenty times a second takes longer than the work.
                while (begun.size() - before < DRAINED) {
                    Thread.sleep(1);
                }
                double drained = (begun.size() - before) * 1e9 / (System.nanoTime() - from);
                assertThat(worker.queues().get(queue.name()).load().waiting()).isZero();
                return drained;
            }
        }
    }

    @Test
    void queues_with_limits_beside_a_queue_without() throws Exception {
        try (HikariDataSource pool = TestServer.pool(12);
                PostgresStore store =
                        PostgresStore.on(pool).schema(TestServer.newSchema()).open()) {
            drain(store, Queue.named("warm"), 0);
            drain(store, Queue.named("warm-limited").concurrency(64), 0);
            double free = drain(store, Queue.named("free"), 0);
            double limited = drain(store, Queue.named("limited").concurrency(64), 0);
            double keyed = drain(store, Queue.named("keyed").perKey(2), 1_000);
            System.out.printf(
                    "queues: drained a second: %.0f without limits, %.0f with 64 at once, %.0f with 2 of each of 1,000 keys%n",
                    free, limited, keyed);
        }
    }

    @Test
    void a_paused_queue_with_many_runs_does_not_slow_another_queue() throws Exception {
        try (HikariDataSource pool = TestServer.pool(12);
                PostgresStore store =
                        PostgresStore.on(pool).schema(TestServer.newSchema()).open();
                Perdure client = Perdure.on(store)
                        .declare(Queue.named("stopped").concurrency(5))
                        .client();
                Perdure worker = Perdure.on(store)
                        .register(work)
                        .queues("stopped", "other")
                        .start()) {
            client.queues().pause("stopped", "not today");
            latencies(client, "warm", 100);
            double before = latencies(client, "before", 100);
            start(client, "stopped", 0, BACKLOG, 0);
            start(client, "stopped", BACKLOG, BACKLOG, 1_000);
            double after = latencies(client, "after", 100);
            System.out.printf(
                    "queues: a run of another queue began after %.2f ms at p50, and after %.2f ms beside %d of a paused one%n",
                    before, after, 2 * BACKLOG);
            assertThat(worker.queues().get("stopped").load().waiting()).isEqualTo(2L * BACKLOG);
            assertThat(after).isLessThan(3 * before + 5);
        }
    }

    private double latencies(Perdure client, String name, int count) {
        double[] took = new double[count];
        for (int i = 0; i < count; i++) {
            long from = System.nanoTime();
            client.start(
                            Invocation.of(work, name + i),
                            StartOptions.id(name + i).queue("other"))
                    .result();
            took[i] = (begun.get(name + i) - from) / 1e6;
        }
        Arrays.sort(took);
        return took[count / 2];
    }

    @Test
    void a_new_key_begins_soon_beside_a_key_with_many_waiting() throws Exception {
        try (HikariDataSource pool = TestServer.pool(12);
                PostgresStore store =
                        PostgresStore.on(pool).schema(TestServer.newSchema()).open()) {
            Queue queue = Queue.named("shared").concurrency(64).perKey(1);
            Definition<String, String> sleeps = Definition.of("sleeps", String.class, String.class, (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
            try (Perdure client = Perdure.on(store).declare(queue).client()) {
                client.start(
                        Invocation.of(sleeps, "x"),
                        StartOptions.id("holder").queue("shared").key("key-0"));
                start(client, "shared", 0, BACKLOG, 1);
                try (Perdure worker =
                        Perdure.on(store).register(work, sleeps).queues(queue).start()) {
                    List<Double> took = new ArrayList<>();
                    for (int i = 0; i < 60; i++) {
                        long from = System.nanoTime();
                        Run<String> run = worker.start(
                                Invocation.of(work, "new" + i),
                                StartOptions.id("new" + i).queue("shared").key("new" + i));
                        run.result();
                        took.add((begun.get("new" + i) - from) / 1e6);
                    }
                    double[] sorted = took.stream()
                            .skip(10)
                            .mapToDouble(each -> each)
                            .sorted()
                            .toArray();
                    System.out.printf(
                            "queues: a new key beside %d waiting of another began after %.1f ms at p50, %.1f ms at most%n",
                            BACKLOG,
                            sorted[sorted.length / 2],
                            Arrays.stream(sorted).max().orElseThrow());
                    assertThat(sorted[sorted.length / 2]).isLessThan(200);
                }
            }
        }
    }
}
