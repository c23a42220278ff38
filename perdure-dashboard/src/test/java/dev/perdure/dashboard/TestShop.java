package dev.perdure.dashboard;

import static dev.perdure.StepOptions.retry;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagTask;
import dev.perdure.error.TerminalException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What the tests look at. */
public final class TestShop {
    static final Attribute<String> NAME = Attribute.text("name");

    /** A graph of 500 tasks in 20 layers. */
    static final Dag<String, Integer> WIDE = Dag.of("wide", String.class, dag -> {
        List<DagTask<Integer>> layer = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            layer.add(dag.task("t0-" + i, task -> 1));
        }
        for (int depth = 1; depth < 20; depth++) {
            List<DagTask<Integer>> next = new ArrayList<>();
            for (int i = 0; i < 25; i++) {
                next.add(dag.after(layer.get(i), layer.get((i + depth) % 25))
                        .task("t%d-%d".formatted(depth, i), (task, one, other) -> one));
            }
            layer = next;
        }
        return layer.getFirst();
    });

    static volatile boolean refused;

    @Workflow("order")
    public String order(WorkflowContext ctx, String what) {
        ctx.step("reserve", () -> {});
        return ctx.step("charge", () -> paid(what), retry(1));
    }

    private static String paid(String what) {
        if (refused) {
            throw new TerminalException("The card was refused.");
        }
        return "paid for " + what;
    }

    @Workflow("sleeper")
    public void sleeper(WorkflowContext ctx, String what) {
        ctx.sleep(Duration.ofHours(1));
    }

    @Workflow("dozer")
    public void dozer(WorkflowContext ctx, String what) {
        ctx.sleep(Duration.ofHours(1));
    }

    @Workflow("approval")
    public String approval(WorkflowContext ctx, String what) {
        return ctx.awakeable(String.class).await();
    }

    @Workflow("stranger")
    public String stranger(WorkflowContext ctx, String text) {
        ctx.status(text);
        ctx.step(text, () -> text);
        throw new TerminalException(text);
    }

    @Workflow("report")
    public void report(WorkflowContext ctx) {}
}
