package dev.perdure.cli.demo;

import dev.perdure.dag.Dag;
import dev.perdure.error.TerminalException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The tasks of the DAG demo. Each takes long enough to be seen on the screen, and counts its executions. */
final class OrderTasks {
    private static final Duration UNIT = Duration.ofMillis(400);

    private final ConcurrentMap<String, Integer> times = new ConcurrentHashMap<>();
    private volatile boolean cardsAccepted;

    static Dag<String, String> dag(OrderTasks tasks) {
        return Dag.of("demo-order-dag", String.class, dag -> {
            var check = dag.task("check", task -> tasks.run("check", 1));
            var charge = dag.after(check).task("charge", (task, order) -> tasks.charge());
            var pack = dag.after(check).task("pack", (task, order) -> tasks.run("pack", 2));
            var label = dag.after(pack).task("label", (task, parcel) -> tasks.run("label", 1));
            var insure = dag.after(check)
                    .task("insure", (task, order) -> tasks.run("insure", 1))
                    .onlyIf((task, order) -> task.input().endsWith("insured"));
            dag.onFailure(task -> tasks.run("onFailure", 0));
            return dag.after(charge, label, insure)
                    .task("ship", (task, payment, parcel, insurance) -> tasks.run("ship", 1) + " of " + task.input());
        });
    }

    private String charge() throws InterruptedException {
        if (!cardsAccepted) {
            Thread.sleep(UNIT);
            throw new TerminalException("The card was refused.");
        }
        return run("charge", 1);
    }

    private String run(String what, int units) throws InterruptedException {
        times.merge(what, 1, Integer::sum);
        Thread.sleep(UNIT.multipliedBy(units));
        return what;
    }

    void acceptCards() {
        cardsAccepted = true;
    }

    int times(String what) {
        return times.getOrDefault(what, 0);
    }
}
