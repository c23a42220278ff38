package dev.perdure.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/** Measures the store beside raw commits on the same server. Prints; asserts nothing. */
final class StoreBenchmark {
    private static final Payload VALUE =
            new Payload("{\"amount\":4200,\"currency\":\"EUR\"}".getBytes(StandardCharsets.UTF_8));

    private final PostgresStore store;
    private final WorkerId worker = new WorkerId(UUID.randomUUID());

    private StoreBenchmark(PostgresStore store) {
        this.store = store;
        store.leases().join(new Joining(worker, Set.of("d"), null, Duration.ofHours(1), 8));
    }

    public static void main(String[] arguments) throws Exception {
        try (HikariDataSource pool = TestServer.pool(40);
                PostgresStore store = PostgresStore.on(pool)
                        .schema("bench")
                        .notifications(arguments.length > 0)
                        .open()) {
            TestServer.execute("CREATE TABLE raw (id bigint PRIMARY KEY, payload bytea)");
            StoreBenchmark benchmark = new StoreBenchmark(store);
            for (int round = 0; round < 3; round++) {
                raw(pool, 1, 3_000);
                raw(pool, 32, 30_000);
                benchmark.lone(3_000);
                benchmark.appends(64, 200_000, 2);
                benchmark.appends(1_000, 300_000, 2);
                benchmark.starts(20_000, 500);
                benchmark.drain(500);
                benchmark.oneStep(1, 2_000);
                benchmark.oneStep(64, 30_000);
                benchmark.oneStep(256, 30_000);
                benchmark.sleepers(20_000, 500);
            }
        }
    }

    private static void print(String what, long count, long nanos) {
        System.out.printf("%-40s %,12.0f /s %10.1f us each%n", what, count * 1e9 / nanos, nanos / 1e3 / count);
    }

    private static void parallel(int threads, int count, IntConsumer work) throws InterruptedException {
        AtomicLong next = new AtomicLong();
        CountDownLatch done = new CountDownLatch(threads);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        for (int thread = 0; thread < threads; thread++) {
            executor.execute(() -> {
                try {
                    for (long i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                        work.accept((int) i);
                    }
                } finally {
                    done.countDown();
                }
            });
        }
        done.await(5, TimeUnit.MINUTES);
        executor.shutdown();
    }

    private static void raw(HikariDataSource pool, int clients, int count) throws InterruptedException {
        long begin = System.nanoTime();
        parallel(clients, count, i -> {
            try (Connection connection = pool.getConnection();
                    PreparedStatement insert = connection.prepareStatement("INSERT INTO raw VALUES (?, ?)")) {
                insert.setLong(1, ThreadLocalRandom.current().nextLong());
                insert.setBytes(2, VALUE.bytes());
                insert.execute();
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        print("raw commits, %d clients".formatted(clients), count, System.nanoTime() - begin);
    }

    private NewRun newRun() {
        return new NewRun(
                RunId.of(UUID.randomUUID().toString()),
                "d",
                VALUE,
                ThreadLocalRandom.current().nextLong(),
                "default",
                0,
                null,
                null);
    }

    private static Entry step(int position) {
        return new Entry(position, 0, Entry.Kind.STEP, "charge", Entry.Status.VALUE, VALUE);
    }

    private RunRef started() {
        Outcome outcome = store.ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Start(newRun(), worker)))
                .getFirst();
        return ((Outcome.Started) outcome).run();
    }

    private void lone(int count) {
        RunRef run = started();
        long begin = System.nanoTime();
        for (int i = 1; i <= count; i++) {
            store.ledger()
                    .apply(new Lane(worker, 0), List.of(new Change.Advance(run, 1, List.of(step(i)), new Move.Stay())));
        }
        print("lone appends", count, System.nanoTime() - begin);
    }

    private void appends(int writers, int count, int lanes) throws InterruptedException {
        GroupCommitter committer = new GroupCommitter(store.ledger(), worker, lanes);
        List<RunRef> runs = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            runs.add(started());
        }
        long begin = System.nanoTime();
        int each = count / writers;
        parallel(writers, writers, writer -> {
            RunRef run = runs.get(writer);
            for (int i = 1; i <= each; i++) {
                committer.commit(new Change.Advance(run, 1, List.of(step(i)), new Move.Stay()));
            }
        });
        print(
                "appends, %d writers, %d lanes".formatted(writers, lanes),
                (long) each * writers,
                System.nanoTime() - begin);
    }

    private void starts(int count, int batch) {
        long begin = System.nanoTime();
        for (int i = 0; i < count; i += batch) {
            List<Change> starts = new ArrayList<>();
            for (int j = 0; j < batch; j++) {
                starts.add(new Change.Start(newRun(), null));
            }
            store.ledger().apply(Lane.client(0), starts);
        }
        print("starts in batches of %d".formatted(batch), count, System.nanoTime() - begin);
    }

    private void drain(int limit) {
        long begin = System.nanoTime();
        int claimed = 0;
        int more;
        do {
            more = store.dispatch()
                    .poll(new Poll(worker, Set.of("d"), Set.of("default"), null, limit, true))
                    .claimed()
                    .size();
            claimed += more;
        } while (more > 0);
        print("claims in batches of %d".formatted(limit), claimed, System.nanoTime() - begin);
    }

    private void oneStep(int callers, int count) throws InterruptedException {
        GroupCommitter committer = new GroupCommitter(store.ledger(), worker, 2);
        long begin = System.nanoTime();
        parallel(callers, count, i -> {
            Outcome.Started started = (Outcome.Started) committer.commit(new Change.Start(newRun(), worker));
            committer.commit(new Change.Advance(started.run(), 1, List.of(step(1)), new Move.Stay()));
            committer.commit(
                    new Change.Advance(started.run(), 1, List.of(), new Move.End(RunState.COMPLETED, VALUE, "")));
        });
        print("one-step runs, %d callers".formatted(callers), count, System.nanoTime() - begin);
    }

    private void sleepers(int count, int batch) {
        List<RunRef> runs = new ArrayList<>();
        for (int i = 0; i < count; i += batch) {
            List<Change> starts = new ArrayList<>();
            for (int j = 0; j < batch; j++) {
                starts.add(new Change.Start(newRun(), worker));
            }
            store.ledger()
                    .apply(new Lane(worker, 0), starts)
                    .forEach(outcome -> runs.add(((Outcome.Started) outcome).run()));
        }
        long begin = System.nanoTime();
        for (int i = 0; i < count; i += batch) {
            List<Change> sleeps = new ArrayList<>();
            for (RunRef run : runs.subList(i, i + batch)) {
                Move wait =
                        new Move.Wait(RunState.SUSPENDED, new dev.perdure.spi.change.Due.In(Duration.ofHours(1)), 0);
                sleeps.add(new Change.Advance(run, 1, List.of(step(1)), wait));
            }
            store.ledger().apply(new Lane(worker, 0), sleeps);
        }
        print("suspensions in batches of %d".formatted(batch), count, System.nanoTime() - begin);
    }
}
