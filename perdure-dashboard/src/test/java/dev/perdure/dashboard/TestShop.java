package dev.perdure.dashboard;

import static dev.perdure.StepOptions.retry;

import dev.perdure.Topic;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagTask;
import dev.perdure.error.TerminalException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.report.StepLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.slf4j.event.Level;

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

    /** Three tasks in a row; the second fails while {@link #refused}. */
    static final Dag<String, String> CHAIN = Dag.of("chain", String.class, dag -> {
        var first = dag.task("first", task -> "1");
        var second =
                dag.after(first).task("second", (task, before) -> paid(before)).retry(1);
        return dag.after(second).task("third", (task, before) -> before + "!");
    });

    static final Topic<String> NEWS = Topic.of("news", String.class);

    /** Holds the step of an import until a test lets it go. */
    static final Semaphore IMPORTS = new Semaphore(0);

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

    @Workflow("one-step")
    public String oneStep(WorkflowContext ctx, String what) {
        return ctx.step("step", () -> what);
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

    /** A step that logs, reports its progress and is in no hurry. */
    @Workflow("import")
    public String load(WorkflowContext ctx, String what) {
        ctx.publish(NEWS, "begins with " + what);
        String loaded = ctx.step("load", () -> {
            StepLog.append(Level.INFO, "shop.Loader", "Loads " + what + ".");
            StepLog.append(Level.WARN, "shop.Loader", "Page 3 is empty.");
            ctx.attempt().progress(0.4, "page 4 of 10");
            IMPORTS.acquire();
            return what;
        });
        ctx.publish(NEWS, "has loaded it");
        return loaded;
    }

    /** The shelf of a thing: taking from it is exclusive. */
    @VirtualObject("shelf")
    public static final class Shelf {
        private static final StateKey<Integer> TAKEN = StateKey.of("taken", Integer.class);

        /** Takes some, and holds the shelf for an hour. */
        @Handler
        public void take(ObjectContext ctx, Integer count) {
            ctx.set(TAKEN, count);
            ctx.sleep(Duration.ofHours(1));
        }
    }

    @Workflow("report")
    public String report(WorkflowContext ctx) {
        return "no news";
    }
}
