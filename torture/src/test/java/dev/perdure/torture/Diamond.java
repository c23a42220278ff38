package dev.perdure.torture;

import dev.perdure.dag.Dag;
import dev.perdure.dag.TaskContext;
import dev.perdure.torture.setup.OutsideLedger;

/**
 * A DAG whose two middle tasks wait for one event, so that they end at the same moment. Each body leaves a line
 * outside.
 */
final class Diamond {
    static final String GO = "go";

    private Diamond() {}

    /** What the join was given, and what it gave. */
    record Joined(String left, String right, String own) {}

    static Dag<Integer, Joined> dag(OutsideLedger ledger) {
        return Dag.of("diamond", Integer.class, dag -> {
            var top = dag.task("top", t -> line(ledger, t));
            var left =
                    dag.after(top).task("left", (t, first) -> line(ledger, t)).waitForEvent(GO);
            var right =
                    dag.after(top).task("right", (t, first) -> line(ledger, t)).waitForEvent(GO);
            return dag.after(left, right).task("join", (t, one, two) -> new Joined(one, two, line(ledger, t)));
        });
    }

    private static String line(OutsideLedger ledger, TaskContext<Integer> task) throws Exception {
        return ledger.write(task.runId().value(), task.name());
    }
}
