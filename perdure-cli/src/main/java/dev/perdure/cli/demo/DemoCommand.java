package dev.perdure.cli.demo;

import static dev.perdure.StartOptions.id;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.HistoryEvent;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.cli.demo.EffectLog.Effect;
import dev.perdure.cli.demo.OrderWorkflow.Order;
import dev.perdure.cli.demo.OrderWorkflow.Receipt;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Runs an order in a worker process, kills that process in the middle, and shows that other processes complete the
 * order. The demo checks every claim on the screen against a table outside the engine. The exit code is 0 only if all
 * claims hold.
 */
@Command(
        name = "demo",
        subcommands = DagDemo.class,
        mixinStandardHelpOptions = true,
        description = "Watch an order survive kill -9, on an embedded PostgreSQL. Takes less than two minutes.")
public final class DemoCommand implements Callable<Integer> {
    private static final String ORDER = "order-42";
    private static final int SLEEP_SECONDS = 8;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @Spec
    private @Nullable CommandSpec spec;

    /** For picocli. */
    public DemoCommand() {}

    @Override
    public Integer call() throws Exception {
        Screen screen = new Screen(Objects.requireNonNull(spec).commandLine().getOut());
        screen.headline("An embedded PostgreSQL");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = DemoWorker.pool(postgres.jdbcUrl(), postgres.user(), postgres.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            screen.line(
                    "PostgreSQL %s is up on port %s, with fsync on.".formatted(postgres.version(), postgres.port()));
            EffectLog effectLog = new EffectLog(pool, Duration.ZERO);
            effectLog.create();
            order(screen, postgres, client, effectLog);
            new Sleepers(screen, store).show();
        }
        screen.headline(screen.allPassed() ? "All checks passed." : "Some checks failed: see the crosses above.");
        return screen.allPassed() ? 0 : 1;
    }

    private static void order(Screen screen, EmbeddedPostgres postgres, Perdure client, EffectLog effectLog)
            throws Exception {
        screen.headline("An order: charge, pack, sleep %s seconds, ship".formatted(SLEEP_SECONDS));
        Run<Receipt> run = client.start(OrderWorkflow::process, new Order(ORDER, 4200, SLEEP_SECONDS), id(ORDER));
        screen.line("Started run '%s'. It is durable and waits for a worker.".formatted(run.id()));
        Ticks ticks = new Ticks(screen, client);
        ticks.begin();
        try (WorkerProcess first = WorkerProcess.start(postgres)) {
            screen.line("Worker process %s is ready.".formatted(first.pid()));
            await(() -> has(effectLog, "pack begun"));
            show(screen, effectLog, 0);
            first.kill();
            screen.line("kill -9 %s, in the middle of packing.".formatted(first.pid()));
        }
        int seen = effectLog.effects(ORDER).size();
        try (WorkerProcess second = WorkerProcess.start(postgres)) {
            screen.line("Worker process %s is ready. The lease of the first one ends within %s s."
                    .formatted(second.pid(), DemoWorker.LEASE.toSeconds()));
            await(() -> run.state() == RunState.SUSPENDED);
            show(screen, effectLog, seen);
            seen = effectLog.effects(ORDER).size();
            screen.line("The order sleeps. It holds no thread and no heap.");
            second.kill();
            screen.line("kill -9 %s, while the order sleeps.".formatted(second.pid()));
        }
        try (WorkerProcess third = WorkerProcess.start(postgres)) {
            screen.line("Worker process %s is ready.".formatted(third.pid()));
            Receipt receipt = run.result(TIMEOUT);
            show(screen, effectLog, seen);
            screen.line("Result: " + receipt);
            ticks.end();
        }
        verify(screen, run, effectLog.effects(ORDER));
    }

    private static void show(Screen screen, EffectLog effectLog, int from) throws SQLException {
        List<Effect> effects = effectLog.effects(ORDER);
        effects.subList(from, effects.size())
                .forEach(effect -> screen.line("    %s  (process %s)".formatted(effect.what(), effect.pid())));
    }

    private static void verify(Screen screen, Run<Receipt> run, List<Effect> effects) {
        screen.check(count(effects, "charge") == 1, "charged once: the engine never repeats a recorded step");
        screen.check(
                effects.stream()
                                .filter(effect -> effect.what().startsWith("pack begun"))
                                .count()
                        == 2,
                "packed twice: the first attempt was killed before its result was recorded");
        screen.check(count(effects, "ship") == 1, "shipped once");
        Instant began = run.history().stream()
                .filter(event -> event.kind() == HistoryEvent.Kind.SLEEP)
                .findFirst()
                .orElseThrow()
                .at();
        Instant due = began.plusSeconds(SLEEP_SECONDS);
        Instant shipped = effects.getLast().at();
        long late = Duration.between(due, shipped).toMillis();
        screen.check(late >= 0, "shipped no earlier than the deadline from before the kill");
        screen.check(late < 5_000, "and %s ms after it".formatted(late));
    }

    private static long count(List<Effect> effects, String what) {
        return effects.stream().filter(effect -> effect.what().equals(what)).count();
    }

    private static boolean has(EffectLog effectLog, String what) throws SQLException {
        return effectLog.effects(ORDER).stream()
                .anyMatch(effect -> effect.what().startsWith(what));
    }

    private static void await(Callable<Boolean> wanted) throws Exception {
        Instant giveUp = Instant.now().plus(TIMEOUT);
        while (!wanted.call()) {
            if (Instant.now().isAfter(giveUp)) {
                throw new IllegalStateException("The demo did not advance within " + TIMEOUT + ".");
            }
            Thread.sleep(Duration.ofMillis(20));
        }
    }
}
