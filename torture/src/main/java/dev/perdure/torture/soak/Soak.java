package dev.perdure.torture.soak;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.embedded.Database;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Counts;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.SoakWorker;
import dev.perdure.torture.work.Starter;
import dev.perdure.torture.work.Transfers;
import dev.perdure.torture.work.Workload;
import dev.perdure.torture.work.Workload.Parts;
import dev.perdure.torture.work.Workloads;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Work at a fixed rate, without faults, for a long time: whatever is larger at the end than in the middle grows for
 * ever.
 */
public final class Soak implements AutoCloseable {
    /** How many samples there are at least: the medians of fewer say nothing. */
    public static final int FEWEST_SAMPLES = 9;

    private static final int LIVES = 9;
    /** The pool takes no shorter one. */
    private static final Duration SHORTEST_LIFE = Duration.ofSeconds(30);

    private static final int WORKERS = 2;
    private static final int LARGEST = 12;
    private static final Duration TO_END = Duration.ofSeconds(30);
    private static final List<String> SHOWN = List.of(
            "all tables",
            "all indexes",
            "rows of run",
            "heap of worker 1",
            "heap of worker 2",
            "threads of worker 1",
            "connections",
            "open files of worker 1",
            "open files of the server",
            "private memory of the server");

    /**
     * What is to be done.
     *
     * @param samples how often to measure, at least nine times
     * @param between the time between two measurements
     * @param pause the time between two pieces of one workload
     * @param logs the folder for the logs of the workers
     */
    public record Plan(int samples, Duration between, Duration pause, Path logs) {
        /**
         * How long a connection lives: each third of the soak sees three lives of each. A connection keeps the plans of
         * all statements that it has prepared, so the memory of the server rises with the age of connections and falls
         * when they are replaced. Thirds with whole lives can be compared. No plan outlives its connection, so what grows
         * all the same is none of them.
         */
        Duration life() {
            Duration life = between.multipliedBy(samples).dividedBy(LIVES);
            return life.compareTo(SHORTEST_LIFE) < 0 ? SHORTEST_LIFE : life;
        }
    }

    private final Plan plan;
    private final PrintStream out;
    private final EmbeddedPostgres server = EmbeddedPostgres.start(EmbeddedPostgres.options());
    private final HikariDataSource pool;
    private final HikariDataSource ledgerPool;
    private final PostgresStore store;
    private final Perdure client;
    private final List<WorkerProcess> workers = new ArrayList<>();

    /** Starts a server. The workers start with {@link #run()}. */
    public Soak(Plan plan, PrintStream out) throws SQLException {
        this.plan = plan;
        this.out = out;
        this.pool = address().pool(plan.life());
        this.ledgerPool = ledgerAddress().pool(plan.life());
        new OutsideLedger(ledgerPool).create();
        this.store = PostgresStore.on(pool).open();
        this.client = Perdure.on(store).client();
        try (Connection connection = pool.getConnection()) {
            for (Workload workload : Workloads.SOAKED) {
                workload.prepare(connection);
            }
        }
    }

    private Address address() {
        return new Address(server.jdbcUrl(), server.user(), server.password());
    }

    private Address ledgerAddress() {
        Database ledger = server.createDatabase("ledger");
        return new Address(ledger.jdbcUrl(), server.user(), server.password());
    }

    /** Works and measures; gives what grows, and what else does not hold. */
    public List<String> run() throws Exception {
        startWorkers();
        Parts parts = new Parts(store, new OutsideLedger(ledgerPool));
        List<Starter> starters = Workloads.SOAKED.stream()
                .map(workload -> new Starter(workload, client, parts, plan.pause()))
                .toList();
        Sampler sampler = new Sampler(server, pool, workers);
        out.println("time      pieces  " + String.join("; ", SHOWN));
        long next = System.nanoTime();
        for (int sample = 0; sample < plan.samples(); sample++) {
            next += plan.between().toNanos();
            LockSupport.parkNanos(next - System.nanoTime());
            sampler.sample();
            int pieces = starters.stream().mapToInt(Starter::acknowledged).sum();
            out.printf(
                    "%tT %,7d  %s%n",
                    System.currentTimeMillis(),
                    pieces,
                    String.join("; ", SHOWN.stream().map(sampler::newest).toList()));
        }
        List<String> violations = new ArrayList<>();
        for (Starter starter : starters) {
            violations.addAll(starter.stop());
        }
        LockSupport.parkNanos(TO_END.toNanos());
        violations.addAll(wrong(starters));
        violations.addAll(judge(sampler.figures()));
        return violations;
    }

    private void startWorkers() throws Exception {
        List<String> arguments = new ArrayList<>(address().arguments());
        arguments.addAll(ledgerAddress().arguments());
        arguments.add(plan.life().toString());
        for (int worker = 1; worker <= WORKERS; worker++) {
            Path log = plan.logs().resolve("worker-%d.log".formatted(worker));
            workers.add(WorkerProcess.start(
                    List.of("-Xmx192m"), SoakWorker.class, arguments, ProcessBuilder.Redirect.to(log.toFile())));
        }
        for (WorkerProcess worker : workers) {
            worker.ready();
        }
    }

    /** Most runs are gone by now, but what they wrote into tables and objects is there, and none may have failed. */
    private List<String> wrong(List<Starter> starters) throws SQLException {
        List<String> violations = new ArrayList<>();
        for (Starter starter : starters) {
            if (starter.workload() instanceof Counts || starter.workload() instanceof Transfers) {
                violations.addAll(starter.workload()
                        .violations(new Seen(client, pool, starter.acknowledged(), Map.of(), List.of())));
            }
        }
        client.runs(RunFilter.all().state(RunState.FAILED, RunState.PAUSED)).list().stream()
                .map(run -> "Run '%s' is %s: %s".formatted(run.id(), run.state(), run.reason()))
                .forEach(violations::add);
        return violations;
    }

    private List<String> judge(List<Figure> figures) {
        List<Figure> growing = figures.stream().filter(Figure::grows).toList();
        List<Figure> largest = figures.stream()
                .filter(figure -> figure.unit() == Unit.STORED && !SHOWN.contains(figure.name()))
                .sorted(Comparator.comparingLong(Figure::after).reversed())
                .limit(LARGEST)
                .toList();
        out.printf("%n%-44s %14s %14s %14s%n", "", "at first", "second third", "last third");
        figures.stream()
                .filter(figure -> growing.contains(figure)
                        || largest.contains(figure)
                        || (figure.unit() != Unit.STORED && figure.after() > 0)
                        || SHOWN.contains(figure.name()))
                .forEach(figure -> out.println(figure.text()));
        out.printf("%d figures, %d of them grow.%n", figures.size(), growing.size());
        return growing.stream()
                .map(figure -> "%s: %s in the second third, %s in the last."
                        .formatted(
                                figure.name(),
                                figure.unit().text(figure.before()),
                                figure.unit().text(figure.after())))
                .toList();
    }

    @Override
    public void close() {
        workers.forEach(WorkerProcess::close);
        client.close();
        store.close();
        pool.close();
        ledgerPool.close();
        server.close();
    }
}
