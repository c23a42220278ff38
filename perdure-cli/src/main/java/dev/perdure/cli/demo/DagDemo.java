package dev.perdure.cli.demo;

import static dev.perdure.StartOptions.id;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.dag.DagRun;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Runs an order as a DAG of tasks, prints the DAG after every change, lets one branch fail, and repairs it. The
 * demo counts the executions outside the engine. The exit code is 0 only if all checks pass.
 */
@Command(
        name = "dag",
        mixinStandardHelpOptions = true,
        description = "Watch a DAG of tasks run, fail in one branch and be repaired, on an embedded PostgreSQL.")
final class DagDemo implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        Screen screen = new Screen(Objects.requireNonNull(spec).commandLine().getOut());
        OrderTasks tasks = new OrderTasks();
        screen.headline("A DAG of tasks");
        screen.block(OrderTasks.dag(tasks).toText());
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.options());
                HikariDataSource pool = DemoWorker.pool(postgres.jdbcUrl(), postgres.user(), postgres.password());
                PostgresStore store = PostgresStore.on(pool).open()) {
            show(screen, store, tasks);
        }
        screen.headline(screen.allPassed() ? "All checks passed." : "Some checks failed: see the crosses above.");
        return screen.allPassed() ? 0 : 1;
    }

    private static void show(Screen screen, PostgresStore store, OrderTasks tasks) throws InterruptedException {
        var dag = OrderTasks.dag(tasks);
        try (Perdure perdure = Perdure.on(store).register(dag).start()) {
            screen.headline("An order whose card is refused");
            DagRun<String> run = perdure.start(dag, "order-42", id("order-42"));
            follow(screen, run);
            screen.check(run.state() == RunState.FAILED, "the order failed, and names the task");
            screen.check(
                    run.status().task("label").orElseThrow().state() == RunState.COMPLETED,
                    "the other branch finished");
            screen.check(tasks.times("onFailure") == 1, "onFailure ran once");
            screen.headline("With another card: only the failed task and the tasks after it run again");
            tasks.acceptCards();
            run.retryFailed();
            follow(screen, run);
            screen.line("Result: " + run.result(TIMEOUT));
            screen.check(tasks.times("pack") == 1, "packed once: the DAG kept its output");
            screen.check(tasks.times("ship") == 1, "shipped once, after all other tasks");
        }
    }

    /** Prints the DAG after every change, until its run has ended. */
    private static void follow(Screen screen, DagRun<?> run) throws InterruptedException {
        Instant giveUp = Instant.now().plus(TIMEOUT);
        String shown = "";
        while (true) {
            boolean ended = run.state().isTerminal();
            String now = run.status().toText();
            if (!now.equals(shown)) {
                screen.block(now);
                shown = now;
            }
            if (ended) {
                return;
            }
            if (Instant.now().isAfter(giveUp)) {
                throw new IllegalStateException("The order has not ended after " + TIMEOUT + ".");
            }
            Thread.sleep(POLL_INTERVAL);
        }
    }
}
