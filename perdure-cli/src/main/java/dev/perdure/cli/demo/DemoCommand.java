package dev.perdure.cli.demo;

import static dev.perdure.StartOptions.id;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.cli.demo.Ledger.Effect;
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
 * Runs an order in a worker process, kills that process in the middle, and shows that the order arrives all the same. Every
 * promise it makes on the screen is checked against a ledger outside the engine; the exit code is 0 only if all held.
 */
@Command(
        name = "demo",
        subcommands = GraphDemo.class,
        mixinStandardHelpOptions = true,
        description = "Watch an order survive kill -9, on an embedded PostgreSQL. Ends by itself in under two minutes.")
public final class DemoCommand implements Callable<Integer> {
    private static final String ORDER = "order-42";
    private static final int REST_SECONDS = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Spec
    private @Nullable CommandSpec spec;

    /** For picocli. */
    public DemoCommand() {}

    @Override
    public Integer call() throws Exception {
        Screen screen = new Screen(Objects.requireNonNull(spec).commandLine().getOut());
        screen.headline("A PostgreSQL of our own");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = DemoWorker.pool(postgres.jdbcUrl(), postgres.user(), postgres.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            screen.line(
                    "PostgreSQL %s is up on port %d, with fsync on.".formatted(postgres.version(), postgres.port()));
            Ledger ledger = new Ledger(pool, Duration.ZERO);
            ledger.create();
            order(screen, postgres, client, ledger);
            new Sleepers(screen, store).show();
        }
        screen.headline(screen.allHeld() ? "All of it held." : "Not all of it held: see the crosses above.");
        return screen.allHeld() ? 0 : 1;
    }

    private static void order(Screen screen, EmbeddedPostgres postgres, Perdure client, Ledger ledger)
            throws Exception {
        screen.headline("An order: charge, pack, rest %d seconds, ship".formatted(REST_SECONDS));
        Run<Receipt> run = client.start(OrderWorkflow::process, new Order(ORDER, 4200, REST_SECONDS), id(ORDER));
        screen.line("Started run '%s'. That is durable; it waits for a worker.".formatted(run.id()));
        try (WorkerProcess first = WorkerProcess.start(postgres)) {
            screen.line("Worker process %d is ready.".formatted(first.pid()));
            await(() -> has(ledger, "pack begun"));
            show(screen, ledger, 0);
            first.kill();
            screen.line("kill -9 %d, in the middle of packing.".formatted(first.pid()));
        }
        int seen = ledger.effects(ORDER).size();
        try (WorkerProcess second = WorkerProcess.start(postgres)) {
            screen.line("Worker process %d is ready; the first one's lease ends within %d s."
                    .formatted(second.pid(), DemoWorker.LEASE.toSeconds()));
            await(() -> run.state() == RunState.SUSPENDED);
            show(screen, ledger, seen);
            seen = ledger.effects(ORDER).size();
            screen.line("The order rests. It is a row now: no thread, no heap.");
            second.kill();
            screen.line("kill -9 %d, while it rests.".formatted(second.pid()));
        }
        try (WorkerProcess third = WorkerProcess.start(postgres)) {
            screen.line("Worker process %d is ready.".formatted(third.pid()));
            Receipt receipt = run.result(PATIENCE);
            show(screen, ledger, seen);
            screen.line("Result: " + receipt);
        }
        verify(screen, run, ledger.effects(ORDER));
    }

    private static void show(Screen screen, Ledger ledger, int from) throws SQLException {
        List<Effect> effects = ledger.effects(ORDER);
        effects.subList(from, effects.size())
                .forEach(effect -> screen.line("    %s  (process %d)".formatted(effect.what(), effect.pid())));
    }

    private static void verify(Screen screen, Run<Receipt> run, List<Effect> effects) {
        screen.check(count(effects, "charge") == 1, "charged once: a recorded step is never repeated");
        screen.check(
                effects.stream()
                                .filter(effect -> effect.what().startsWith("pack begun"))
                                .count()
                        == 2,
                "packed again: the body that was killed had no record, so it ran once more");
        screen.check(count(effects, "ship") == 1, "shipped once");
        Instant began = run.history().stream()
                .filter(event -> event.what().startsWith("SLEEP"))
                .findFirst()
                .orElseThrow()
                .at();
        Instant due = began.plusSeconds(REST_SECONDS);
        Instant shipped = effects.getLast().at();
        long late = Duration.between(due, shipped).toMillis();
        screen.check(late >= 0, "the rest kept the deadline it had before the kill: not a millisecond early");
        screen.check(late < 5_000, "and it was over %d ms after that".formatted(late));
    }

    private static long count(List<Effect> effects, String what) {
        return effects.stream().filter(effect -> effect.what().equals(what)).count();
    }

    private static boolean has(Ledger ledger, String what) throws SQLException {
        return ledger.effects(ORDER).stream().anyMatch(effect -> effect.what().startsWith(what));
    }

    private static void await(Callable<Boolean> wanted) throws Exception {
        Instant giveUp = Instant.now().plus(PATIENCE);
        while (!wanted.call()) {
            if (Instant.now().isAfter(giveUp)) {
                throw new IllegalStateException("Nothing happened for " + PATIENCE + ".");
            }
            Thread.sleep(Duration.ofMillis(20));
        }
    }
}
