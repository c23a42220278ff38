package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.work.Steps;
import dev.perdure.torture.work.Steps.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Engines of this JVM on a database that is about to meet faults, with a steady stream of starts. The ledger is in
 * another database, so that what happened is known whatever happens here.
 */
final class UnderFire implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PAGE = 1_000;
    private static final Duration BETWEEN_STARTS = Duration.ofMillis(25);

    private record Member(HikariDataSource pool, PostgresStore store, Perdure engine) {}

    private final SharedPostgres.Fresh ledgerDatabase = SharedPostgres.database("ledger");
    private final HikariDataSource ledgerPool =
            SmallPool.of(ledgerDatabase.jdbcUrl(), ledgerDatabase.user(), ledgerDatabase.password());
    private final OutsideLedger ledger = new OutsideLedger(ledgerPool);
    private final List<Member> members = new ArrayList<>();
    private final Queue<Run<Values>> runs = new ConcurrentLinkedQueue<>();
    private final AtomicReference<Throwable> refusal = new AtomicReference<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final List<Thread> starters = new ArrayList<>();
    private volatile boolean stopping;

    UnderFire(Address address, Duration lease, int engines) throws Exception {
        ledger.create();
        for (int i = 0; i < engines; i++) {
            HikariDataSource pool = address.pool();
            PostgresStore store = PostgresStore.on(pool).open();
            Perdure engine = Perdure.on(store)
                    .register(Steps.definition(ledger))
                    .lease(lease)
                    .maxRuns(200)
                    .start();
            members.add(new Member(pool, store, engine));
        }
    }

    /** Starts runs one by one, at every engine, until {@link #settle()}. */
    void load() {
        for (Member member : members) {
            starters.add(Thread.ofVirtual().start(() -> guarded(() -> keepStarting(member.engine()))));
        }
    }

    private void keepStarting(Perdure engine) {
        while (!stopping) {
            int number = numbers.incrementAndGet();
            runs.add(engine.start(Invocation.of(Steps.definition(ledger), number), StartOptions.id("run-" + number)));
            pause(BETWEEN_STARTS);
        }
    }

    private void guarded(Runnable starts) {
        try {
            starts.run();
        } catch (RuntimeException | Error refused) {
            refusal.compareAndSet(null, refused);
        }
    }

    /** Lets faults happen under load, which must not bring everything to a standstill. */
    void during(double shareAfterwards, LivenessFloor.Faults faults) throws Exception {
        new LivenessFloor(ledger, shareAfterwards).around(faults);
    }

    /** How many starts were acknowledged so far. */
    int acknowledged() {
        return runs.size();
    }

    /** No more faults, no more starts: every acknowledged run ends, and the invariants hold. */
    Invariants settle() throws Exception {
        stopping = true;
        for (Thread starter : starters) {
            assertThat(starter.join(PATIENCE)).as("a start returns").isTrue();
        }
        assertThat(refusal.get()).as("what a start threw").isNull();
        List<Run<Values>> all = List.copyOf(runs);
        assertThat(all).isNotEmpty();
        all.forEach(run -> run.result(PATIENCE));
        Perdure engine = members.getFirst().engine();
        assertThat(count(engine)).as("one run for each start, and no other").isEqualTo(all.size());
        Invariants invariants = new Invariants(ledger);
        invariants.hold(engine, all);
        return invariants;
    }

    private static int count(Perdure engine) {
        RunFilter filter = RunFilter.all().limit(PAGE);
        List<RunInfo> page = engine.runs(filter).list();
        int count = page.size();
        while (page.size() == PAGE) {
            page = engine.runs(filter.after(page.getLast())).list();
            count += page.size();
        }
        return count;
    }

    static void pause(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }

    @Override
    public void close() {
        stopping = true;
        members.forEach(member -> member.engine().close());
        members.forEach(member -> member.store().close());
        members.forEach(member -> member.pool().close());
        ledgerPool.close();
        ledgerDatabase.close();
    }
}
