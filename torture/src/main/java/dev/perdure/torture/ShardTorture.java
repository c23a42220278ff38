package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.error.PerdureException;
import dev.perdure.spi.shard.ShardMap;
import dev.perdure.torture.fault.NoEffectException;
import dev.perdure.torture.fault.ShardFaults;
import dev.perdure.torture.setup.Absence;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Phase;
import dev.perdure.torture.setup.ShardSite;
import dev.perdure.torture.setup.ShardStores;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.Starter;
import dev.perdure.torture.work.Workload;
import dev.perdure.torture.work.Workload.Parts;
import dev.perdure.torture.work.shard.ShardWorker;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Lets workers work on three servers: first alone, then while partitions move, then while one server is down, then while all
 * of that and kills happen together. Waits until all work has ended, and checks what was done in a ledger outside the engine.
 */
final class ShardTorture implements AutoCloseable {
    private static final int LANES_EACH = 2;
    private static final int AT_ONCE = 2;
    private static final int MOST_PAUSE_MILLIS = 3_000;
    /** In it, a partition that has moved goes on. */
    private static final Duration TO_GO_ON = Duration.ofSeconds(3);

    private static final Duration TO_DRAIN = Duration.ofSeconds(30);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private static final String LEFT_BEHIND = """
            SELECT format('Shard %s has %s %s at the end.', (SELECT name FROM perdure.shard), rows, what)
            FROM (VALUES ('rows that wait to be sent', (SELECT count(*) FROM perdure.outgoing)),
                         ('rows that a move has set aside', (SELECT count(*) FROM perdure.set_aside)),
                         ('notes of moves', (SELECT count(*) FROM perdure.partition_change)),
                         ('triggers of moves', (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'partition_change%')),
                         ('partitions on the move', (SELECT count(*) FROM perdure.closed_partition WHERE phase <> 'GONE')),
                         ('runs that belong to another shard',
                          (SELECT count(*) FROM perdure.run r, perdure.shard s
                           WHERE s.owners[r.partition + 1] <> s.name))) AS t (what, rows)
            WHERE rows > 0
            """;

    private final ShardPlan plan;
    private final PrintStream out;
    private final ShardSite site;
    private final HikariDataSource ledgerPool;
    private final OutsideLedger ledger;
    private final ShardStores stores;
    private final Perdure client;
    private final List<OnePartition> lanes;
    private final ShardFaults faults;
    private final Map<Kind, Report.Strikes> struck = new ConcurrentSkipListMap<>();

    /** The faults that happen together at the end. */
    enum Kind {
        KILL(ShardFaults::kill),
        RESTART(ShardFaults::restart),
        DOWN(ShardFaults::down),
        MOVE(ShardFaults::move),
        CUT_MOVE(ShardFaults::cutMove);

        private interface Fault {
            String strike(ShardFaults faults, Random chance) throws Exception;
        }

        private final Fault fault;

        Kind(Fault fault) {
            this.fault = fault;
        }
    }

    ShardTorture(ShardPlan plan, PrintStream out) throws Exception {
        this.plan = plan;
        this.out = out;
        this.site = new ShardSite(ShardWorker.class, plan.workers(), plan.logs());
        this.ledgerPool = site.ledger().pool();
        this.ledger = new OutsideLedger(ledgerPool);
        ledger.create();
        this.stores = new ShardStores(site.addresses());
        this.client = Perdure.on(stores.sharded()).client();
        this.lanes = OnePartition.of(ShardSite.NAMES.size(), LANES_EACH);
        this.faults = new ShardFaults(
                site, lanes.stream().map(OnePartition::partition).toList());
    }

    /** Does what is planned. */
    ShardReport run() throws Exception {
        site.workers().start();
        Parts parts = new Parts(stores.first(), ledger);
        List<Workload> workloads = Stream.concat(
                        lanes.stream().map(OnePartition::steps), ShardWorker.WORKLOADS.stream())
                .toList();
        List<Starter> starters = workloads.stream()
                .map(workload -> new Starter(workload, client, parts, plan.between()))
                .toList();
        LockSupport.parkNanos(plan.calm().toNanos());
        Duration longestPause = movesAlone();
        ShardReport.Outage outage = downAlone();
        List<String> violations = new ArrayList<>(strike());
        say("The faults are over. Waiting until all work has ended.");
        faults.settle();
        for (Starter starter : starters) {
            violations.addAll(starter.stop());
        }
        Rest rest = new Rest(client, site.addresses(), site.workers(), workloads);
        violations.addAll(rest.await());
        violations.addAll(leftBehind());
        violations.addAll(rest.leave());
        List<Line> lines = ledger.lines();
        List<Report.Done> done = new ArrayList<>();
        for (Starter starter : starters) {
            Seen seen = seen(starter, lines);
            violations.addAll(violations(starter.workload(), seen));
            long bodies = seen.lines().values().stream().mapToLong(List::size).sum();
            done.add(new Report.Done(starter.workload().name(), starter.acknowledged(), bodies));
        }
        return new ShardReport(plan, struck, done, longestPause, outage, violations);
    }

    private void say(String what) {
        out.printf("%tT %s%n", System.currentTimeMillis(), what);
    }

    /** Moves partitions, and gives the longest time in which no body of a partition that moved ended. */
    private Duration movesAlone() throws Exception {
        Duration longest = Duration.ZERO;
        for (int number = 0; number < plan.moves(); number++) {
            OnePartition lane = lanes.get(number % lanes.size());
            Instant begun = ledger.now();
            String seen = faults.move(lane.partition());
            LockSupport.parkNanos(TO_GO_ON.toNanos());
            Duration pause = lane.longestPause(ledger.lines(), new Phase(begun, ledger.now()));
            say("move: %s; by the ledger its runs paused for %,d ms".formatted(seen, pause.toMillis()));
            longest = pause.compareTo(longest) > 0 ? pause : longest;
        }
        return longest;
    }

    /** Stops one server, and compares what the others do meanwhile with what they did before. */
    private ShardReport.Outage downAlone() throws Exception {
        ShardMap map = faults.map();
        String shard = ShardSite.NAMES.getLast();
        List<OnePartition> others = lanes.stream()
                .filter(lane -> !map.owners().get(lane.partition()).equals(shard))
                .toList();
        Instant begun = ledger.now();
        LockSupport.parkNanos(plan.down().toNanos());
        Instant stopped = ledger.now();
        String seen = faults.down(ShardSite.NAMES.indexOf(shard), plan.down());
        List<Line> all = ledger.lines();
        List<Line> lines =
                others.stream().flatMap(lane -> lane.of(all).stream()).toList();
        ShardReport.Outage outage = new ShardReport.Outage(
                new Phase(begun, stopped).rate(lines), new Phase(stopped, stopped.plus(plan.down())).rate(lines));
        say("down: %s; %s".formatted(seen, outage.text()));
        return outage;
    }

    private List<String> strike() throws InterruptedException {
        Random chance = new Random(plan.seed());
        if (plan.length().isZero()) {
            return Stream.of(Kind.values())
                    .filter(kind -> kind != Kind.DOWN) // that has happened
                    .flatMap(kind -> one(kind, chance).stream())
                    .toList();
        }
        long end = System.nanoTime() + plan.length().toNanos();
        FaultOrder<Kind> order = new FaultOrder<>(List.of(Kind.values()), new Random(chance.nextLong()));
        List<String> trouble = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<String>>> all = new ArrayList<>();
            for (int thread = 0; thread < AT_ONCE; thread++) {
                Random own = new Random(chance.nextLong());
                all.add(threads.submit(() -> strikeUntil(end, order, own)));
            }
            for (Future<List<String>> each : all) {
                trouble.addAll(each.get());
            }
        } catch (ExecutionException thrown) {
            trouble.add("A fault failed: " + thrown.getCause());
        }
        return trouble;
    }

    private List<String> strikeUntil(long end, FaultOrder<Kind> order, Random chance) {
        List<String> trouble = new ArrayList<>();
        while (System.nanoTime() < end) {
            trouble.addAll(one(order.next(), chance));
            LockSupport.parkNanos(
                    Duration.ofMillis(chance.nextInt(MOST_PAUSE_MILLIS)).toNanos());
        }
        return trouble;
    }

    private List<String> one(Kind kind, Random chance) {
        say(kind + " …");
        try {
            String seen = kind.fault.strike(faults, chance);
            say(kind + ": " + seen);
            struck.merge(kind, Report.Strikes.one(seen), Report.Strikes::and);
            return List.of();
        } catch (NoEffectException none) {
            say(kind + ": no effect: " + none.why());
            struck.merge(kind, Report.Strikes.none(none.why()), Report.Strikes::and);
            return List.of();
        } catch (Exception thrown) {
            return List.of("The fault '%s' failed: %s".formatted(kind, thrown));
        }
    }

    /** What is left on the shards although all runs have ended. What crosses may still be on its way for a moment. */
    private List<String> leftBehind() throws SQLException {
        List<String> left = new ArrayList<>();
        for (Address address : site.addresses()) {
            try (Connection connection =
                            DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                    Statement statement = connection.createStatement()) {
                long end = System.nanoTime() + TO_DRAIN.toNanos();
                List<String> here = texts(statement);
                while (!here.isEmpty() && System.nanoTime() < end) {
                    LockSupport.parkNanos(BETWEEN_LOOKS.toNanos());
                    here = texts(statement);
                }
                left.addAll(here);
            }
        }
        return left;
    }

    private static List<String> texts(Statement statement) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(LEFT_BEHIND)) {
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
        }
        return texts;
    }

    private Seen seen(Starter starter, List<Line> lines) {
        String prefix = starter.workload().name() + "-";
        Map<String, List<Line>> ofIt =
                lines.stream().filter(line -> line.run().startsWith(prefix)).collect(Collectors.groupingBy(Line::run));
        return new Seen(client, ledgerPool, starter.acknowledged(), ofIt, absences(lines));
    }

    /**
     * Any process may lose a run whose partition moves, without the end of a lease, while it is in a body. That body may end
     * after another worker has gone on. It must not be recorded, and no other may follow it.
     */
    private static List<Absence> absences(List<Line> lines) {
        return lines.stream().map(Line::pid).distinct().map(Absence::always).toList();
    }

    private static List<String> violations(Workload workload, Seen seen) throws SQLException {
        try {
            return workload.violations(seen);
        } catch (PerdureException refused) {
            return List.of("The results of '%s' cannot be read: %s".formatted(workload.name(), refused.getMessage()));
        }
    }

    @Override
    public void close() {
        client.close();
        stores.close();
        ledgerPool.close();
        site.close();
    }
}
