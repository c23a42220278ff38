package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a worker sends that has nothing to do, counted on the wire. */
final class IdleWorkerIT {
    private static final int SLEEPERS = 1_000;
    private static final Definition<Integer, @Nullable Void> SLEEPER =
            Definition.of("sleeper", Integer.class, (ctx, days) -> ctx.sleep(Duration.ofDays(days)));

    /** Polls become rarer from one to the next; after so long they are as rare as they get. */
    private static final Duration CALMING_DOWN = Duration.ofSeconds(3);
    /** Half a lease. */
    private static final Duration COUNTED = Duration.ofSeconds(5);
    /**
     * A poll a second, two renewals, two sweeps, perhaps a look at what it holds, and a sign of life of the listening
     * connection; and one more of each that may fall on the edge. A slow machine makes them fewer.
     */
    private static final int MOST = (5 + 1) + (2 + 1) + (2 + 1) + 1 + 2;

    @Test
    void an_idle_worker_beside_sleepers_makes_about_two_queries_a_second() {
        String schema = TestServer.newSchema();
        try (CountingProxy proxy = new CountingProxy();
                PostgresStore store =
                        PostgresStore.on(proxy.source()).schema(schema).open();
                Perdure worker = Perdure.on(store).register(SLEEPER).start()) {
            worker.startAll(
                    Collections.nCopies(SLEEPERS, 30),
                    days -> Invocation.of(SLEEPER, days),
                    days -> StartOptions.defaults());
            await().until(() -> TestServer.query("SELECT count(*) FROM %s.timer".formatted(schema))
                    .equals(String.valueOf(SLEEPERS)));
            LockSupport.parkNanos(CALMING_DOWN.toNanos());

            proxy.reset();
            LockSupport.parkNanos(COUNTED.toNanos());
            int sent = proxy.roundTrips();

            System.out.printf("idle: %d round trips in %d s%n", sent, COUNTED.toSeconds());
            assertThat(sent)
                    .as("it is alive, and leaves the server alone")
                    .isPositive()
                    .isLessThanOrEqualTo(MOST);
        }
    }

    @Test
    void so_does_an_idle_worker_of_a_hundred_declared_queues() {
        Queue[] queues = IntStream.range(0, 100)
                .mapToObj(i -> Queue.named("queue-" + i).concurrency(5).perKey(2))
                .toArray(Queue[]::new);
        try (CountingProxy proxy = new CountingProxy();
                PostgresStore store = PostgresStore.on(proxy.source())
                        .schema(TestServer.newSchema())
                        .open();
                Perdure worker =
                        Perdure.on(store).register(SLEEPER).queues(queues).start()) {
            for (int i = 0; i < 100; i++) {
                worker.start(
                        Invocation.of(SLEEPER, 30),
                        StartOptions.id("sleeper-" + i).queue("queue-" + i).key("x"));
            }
            await().until(() -> worker.queues().list().stream()
                    .allMatch(queue -> queue.load().begun() == 1 && queue.load().atWork() == 0));
            LockSupport.parkNanos(CALMING_DOWN.toNanos());

            proxy.reset();
            LockSupport.parkNanos(COUNTED.toNanos());
            int sent = proxy.roundTrips();

            System.out.printf("idle: %d round trips in %d s with 100 queues%n", sent, COUNTED.toSeconds());
            assertThat(sent).isPositive().isLessThanOrEqualTo(MOST);
        }
    }
}
