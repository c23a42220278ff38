package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Three workers with stores and pools of their own, whose connections are disturbed while bodies run. None of them dies,
 * so none may be taken for dead: each of them would join again under another number.
 */
public final class Disturbance {
    private static final int WORKERS = 3;
    private static final int RUNS_AT_ONCE = 10;
    private static final Duration LONGEST_BODY = Duration.ofSeconds(2);
    private static final int LONGEST_PAUSE_MILLIS = 300;
    private static final String NUMBERS = "SELECT max(number) FROM perdure.worker";
    /** One of the listening connections at random. */
    private static final String CLOSE_LISTENING = """
            SELECT count(pg_terminate_backend(backend))
            FROM (SELECT backend FROM perdure.worker WHERE NOT dead AND backend IS NOT NULL ORDER BY random() LIMIT 1) one
            """;

    /**
     * What happened.
     *
     * @param connections listening connections that were closed
     * @param rotations pools of which all connections were replaced
     * @param reloads reloads of the server's configuration
     * @param runs runs of one step that have completed
     * @param bodies bodies of these steps that began
     * @param falseTakeovers workers that had to join again
     */
    public record Seen(long connections, long rotations, long reloads, long runs, long bodies, long falseTakeovers) {}

    /** One of the workers. */
    private record Member(HikariDataSource pool, PostgresStore store, Perdure perdure) implements AutoCloseable {
        static Member on(BenchDatabase database, Definition<Integer, Integer> definition) {
            HikariDataSource pool = database.pool();
            PostgresStore store = PostgresStore.on(pool).open();
            return new Member(
                    pool, store, Perdure.on(store).register(definition).start());
        }

        @Override
        public void close() {
            perdure.close();
            store.close();
            pool.close();
        }
    }

    private final AtomicLong bodies = new AtomicLong();
    private final Definition<Integer, Integer> definition = Definition.of(
            "disturbed",
            Integer.class,
            Integer.class,
            (ctx, millis) -> ctx.step("body", () -> {
                bodies.incrementAndGet();
                Thread.sleep(millis);
                return millis;
            }));
    private final Random random = new Random();
    private long connections;
    private long rotations;
    private long reloads;
    private long runs;

    private Disturbance() {}

    /** Disturbs for so long, on an empty database. */
    public static Seen during(Duration time, BenchDatabase database) throws Exception {
        return new Disturbance().run(time, database);
    }

    private Seen run(Duration time, BenchDatabase database) throws Exception {
        List<Member> members = new ArrayList<>();
        try (Observer observer = new Observer(database)) {
            for (int i = 0; i < WORKERS; i++) {
                members.add(Member.on(database, definition));
            }
            long joined = observer.number(NUMBERS);
            List<Run<Integer>> open = new ArrayList<>();
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0) {
                while (open.size() < RUNS_AT_ONCE) {
                    int millis = random.nextInt((int) LONGEST_BODY.toMillis());
                    Perdure starter = members.get(random.nextInt(WORKERS)).perdure();
                    open.add(starter.start(Invocation.of(definition, millis), StartOptions.defaults()));
                }
                disturb(members.get(random.nextInt(WORKERS)), observer);
                Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
                open.removeIf(this::hasEnded);
            }
            for (Run<Integer> run : open) {
                run.result();
                runs++;
            }
            long falseTakeovers = observer.number(NUMBERS) - joined;
            return new Seen(connections, rotations, reloads, runs, bodies.get(), falseTakeovers);
        } finally {
            members.forEach(Member::close);
        }
    }

    private boolean hasEnded(Run<Integer> run) {
        boolean ended = run.state().isTerminal();
        runs += ended ? 1 : 0;
        return ended;
    }

    private void disturb(Member member, Observer observer) throws Exception {
        switch (random.nextInt(4)) {
            case 0 -> {
                member.pool().getHikariPoolMXBean().softEvictConnections();
                rotations++;
            }
            case 1 -> {
                observer.number("SELECT pg_reload_conf()::int");
                reloads++;
            }
            default -> connections += observer.number(CLOSE_LISTENING);
        }
    }
}
