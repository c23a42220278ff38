package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.error.PerdureException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import dev.perdure.torture.fault.Faults;
import dev.perdure.torture.fault.NoEffectException;
import dev.perdure.torture.fault.Target;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.Starter;
import dev.perdure.torture.work.WorkerMain;
import dev.perdure.torture.work.Workload;
import dev.perdure.torture.work.Workload.Parts;
import dev.perdure.torture.work.Workloads;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Lets workers work, lets faults happen to them and to all that they depend on, waits until all work has ended, and
 * checks what they did in a ledger outside the engine.
 */
final class Torture implements AutoCloseable {
    private static final int AT_ONCE = 2;
    private static final int MOST_PAUSE_MILLIS = 3_000;
    /** In it, every worker polls for the last notification that it got. */
    private static final Duration TO_POLL = Duration.ofSeconds(5);

    private static final int SILENT_TIMES = 3;

    private final Plan plan;
    private final PrintStream out;
    private final Site site;
    private final HikariDataSource pool;
    private final HikariDataSource ledgerPool;
    private final OutsideLedger ledger;
    private final PostgresStore store;
    private final Perdure client;
    private final Optional<OlderVersion> older;
    private final List<Workload> workloads;
    private final Map<Faults, Report.Strikes> struck = new ConcurrentSkipListMap<>();
    private final Queue<Phase> crowds = new ConcurrentLinkedQueue<>();

    Torture(Plan plan, PrintStream out) throws Exception {
        this.plan = plan;
        this.out = out;
        this.site = new Site(new Site.Setup(
                WorkerMain.class,
                plan.setup().workers(),
                arguments(plan),
                plan.logs(),
                server(plan),
                plan.setup().pooler(),
                plan.faults().seed()));
        this.pool = site.through().pool();
        this.ledgerPool = site.ledger().pool();
        this.ledger = new OutsideLedger(ledgerPool);
        ledger.create();
        this.older = plan.setup().older().isPresent()
                ? Optional.of(OlderVersion.migrated(plan.setup().older().get(), site, pool))
                : Optional.empty();
        this.workloads = plan.setup()
                .older()
                .map(checkout -> Workloads.of(OlderVersion.classes(checkout)))
                .orElse(Workloads.ALL);
        this.store = PostgresStore.on(pool)
                .notifications(plan.setup().pooler().isEmpty())
                .open();
        Store seen = plan.setup().defect().map(defect -> defect.in(store)).orElse(store);
        this.client = Perdure.on(seen).client();
        try (Connection connection = pool.getConnection()) {
            for (Workload workload : workloads) {
                workload.prepare(connection);
            }
        }
    }

    private static List<String> arguments(Plan plan) {
        List<String> arguments = new ArrayList<>();
        plan.setup().defect().ifPresent(defect -> arguments.add("defect=" + defect.name()));
        plan.setup().pooler().ifPresent(program -> arguments.add("notifications=false"));
        return arguments;
    }

    private static Site.Server server(Plan plan) {
        List<Faults> kinds = plan.faults().kinds();
        Optional<String> disk = kinds.contains(Faults.DISK) ? Optional.of(megabytes(plan) + "m") : Optional.empty();
        return new Site.Server(disk, kinds.contains(Faults.FAILOVER));
    }

    /** Nothing is removed before the end, and a standby keeps the log of what it has not written out yet. */
    private static long megabytes(Plan plan) {
        return 512 + 64 * plan.faults().length().toMinutes() + plan.setup().crowd() / 50;
    }

    /** Does what is planned. */
    Report run() throws Exception {
        if (older.isEmpty()) {
            site.workers().start();
        }
        older.ifPresent(before -> out.println(before.text()));
        Parts parts = new Parts(store, ledger);
        List<Starter> starters = workloads.stream()
                .map(workload -> new Starter(workload, client, parts, Starter.BETWEEN))
                .toList();
        Instant begun = ledger.now();
        LockSupport.parkNanos(plan.faults().calm().toNanos());
        Instant first = ledger.now();
        List<String> violations = new ArrayList<>(strike());
        Instant last = ledger.now();
        out.println("The faults are over. Waiting until all work has ended.");
        for (Starter starter : starters) {
            violations.addAll(starter.stop());
        }
        violations.addAll(end(starters));
        List<Line> lines = ledger.lines();
        Pace pace = Pace.of(
                lines.stream().filter(this::isOfWorkload).toList(),
                new Phase(begun.plus(plan.faults().calm().dividedBy(2)), first),
                new Phase(first, last),
                crowds);
        if (!plan.faults().length().isZero()) {
            pace.violation().ifPresent(violations::add);
        }
        Map<String, List<Line>> byRun = lines.stream().collect(Collectors.groupingBy(Line::run));
        older.ifPresent(before -> violations.addAll(before.violations(client, byRun, site.absences())));
        List<Report.Done> done = new ArrayList<>();
        for (Starter starter : starters) {
            Seen seen = seen(starter, lines);
            violations.addAll(violations(starter.workload(), seen));
            long bodies = seen.lines().values().stream().mapToLong(List::size).sum();
            done.add(new Report.Done(starter.workload().name(), starter.acknowledged(), bodies));
        }
        Report report = new Report(plan, struck, done, pace, violations);
        violations.addAll(report.missing());
        return report;
    }

    private boolean isOfWorkload(Line line) {
        return workloads.stream().anyMatch(workload -> line.run().startsWith(workload.name() + "-"));
    }

    /** Waits until all work has ended, and lets the workers leave; gives what does not hold. */
    private List<String> end(List<Starter> starters) throws Exception {
        Rest rest = new Rest(client, List.of(site.direct()), site.workers(), workloads);
        List<String> violations = new ArrayList<>(rest.await());
        if (violations.isEmpty() && plan.faults().kinds().contains(Faults.SILENCE)) {
            violations.addAll(endInSilence(starters, rest));
        }
        violations.addAll(rest.leave());
        return violations;
    }

    /**
     * One more piece of each workload while nothing else happens and notifications are lost, some times over. A lost
     * notification matters only here: in the midst of other work, another one or a timer makes up for it. Once is not
     * enough: a worker whose connection was just replaced looks without having been told.
     */
    private List<String> endInSilence(List<Starter> starters, Rest rest) throws Exception {
        site.proxy().silent(true);
        try {
            List<String> violations = new ArrayList<>();
            for (int time = 0; time < SILENT_TIMES && violations.isEmpty(); time++) {
                LockSupport.parkNanos(TO_POLL.toNanos());
                for (Starter starter : starters) {
                    violations.addAll(starter.startLast());
                }
                violations.addAll(rest.await());
            }
            return violations;
        } finally {
            site.proxy().silent(false);
        }
    }

    private static List<String> violations(Workload workload, Seen seen) throws SQLException {
        try {
            return workload.violations(seen);
        } catch (PerdureException refused) {
            return List.of("The results of '%s' cannot be read: %s".formatted(workload.name(), refused.getMessage()));
        }
    }

    private Seen seen(Starter starter, List<Line> lines) {
        String prefix = starter.workload().name() + "-";
        Map<String, List<Line>> ofIt =
                lines.stream().filter(line -> line.run().startsWith(prefix)).collect(Collectors.groupingBy(Line::run));
        return new Seen(client, pool, starter.acknowledged(), ofIt, site.absences());
    }

    /** Lets faults happen; gives what went wrong with the faults themselves. */
    private List<String> strike() throws InterruptedException {
        Random chance = new Random(plan.faults().seed());
        if (plan.faults().length().isZero()) {
            return plan.faults().kinds().stream()
                    .flatMap(fault -> one(fault, chance).stream())
                    .toList();
        }
        long end = System.nanoTime() + plan.faults().length().toNanos();
        FaultOrder<Faults> order = new FaultOrder<>(plan.faults().kinds(), new Random(chance.nextLong()));
        List<Callable<List<String>>> threads = new ArrayList<>();
        for (int thread = 0; thread < AT_ONCE; thread++) {
            Random own = new Random(chance.nextLong());
            threads.add(() -> strikeUntil(end, order, own));
        }
        List<String> trouble = new ArrayList<>();
        try (ExecutorService both = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<List<String>> thread : both.invokeAll(threads)) {
                trouble.addAll(thread.get());
            }
        } catch (ExecutionException thrown) {
            trouble.add("A fault failed: " + thrown.getCause());
        }
        return trouble;
    }

    private List<String> strikeUntil(long end, FaultOrder<Faults> order, Random chance) {
        List<String> trouble = new ArrayList<>();
        while (System.nanoTime() < end || (plan.faults().demanded() && !order.hadAll())) {
            trouble.addAll(one(order.next(), chance));
            LockSupport.parkNanos(
                    Duration.ofMillis(chance.nextInt(MOST_PAUSE_MILLIS)).toNanos());
        }
        return trouble;
    }

    private List<String> one(Faults fault, Random chance) {
        out.printf("%tT %s: %s%n", System.currentTimeMillis(), fault.word(), fault.effect());
        Instant begun = Instant.now();
        try {
            Target target = new Target(
                    site, client, new Parts(store, ledger), plan.setup().crowd());
            String seen = fault.strike(target, chance);
            out.printf("%tT %s: %s%n", System.currentTimeMillis(), fault.word(), seen);
            struck.merge(fault, Report.Strikes.one(seen), Report.Strikes::and);
            return List.of();
        } catch (NoEffectException none) {
            out.printf("%tT %s: no effect: %s%n", System.currentTimeMillis(), fault.word(), none.why());
            struck.merge(fault, Report.Strikes.none(none.why()), Report.Strikes::and);
            return List.of();
        } catch (Exception thrown) {
            out.printf("%tT %s: FAILED: %s%n", System.currentTimeMillis(), fault.word(), thrown);
            struck.merge(fault, Report.Strikes.none(thrown.toString()), Report.Strikes::and);
            return List.of("The fault '%s' failed: %s".formatted(fault.word(), thrown));
        } finally {
            if (fault == Faults.CROWD) {
                crowds.add(new Phase(begun, Instant.now()));
            }
        }
    }

    @Override
    public void close() {
        client.close();
        store.close();
        pool.close();
        ledgerPool.close();
        site.close();
    }
}
