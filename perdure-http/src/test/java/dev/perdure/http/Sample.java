package dev.perdure.http;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.error.TerminalException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.report.StepLog;
import java.math.BigDecimal;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.event.Level;

/** Workflows, a DAG and an object for the tests of the API. */
final class Sample {
    static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    static final Topic<Integer> PROGRESS = Topic.of("progress", Integer.class);
    private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

    record Order(String item, int cents) {}

    record Receipt(String item, BigDecimal paid) {}

    record Reply(String action, BigDecimal paid, String by) {}

    /** The tokens of awakeables, in the order in which they were made. */
    final BlockingQueue<String> tokens = new LinkedBlockingQueue<>();

    /** Lets a load end. */
    final BlockingQueue<String> loads = new LinkedBlockingQueue<>();

    static final Definition<Order, Receipt> ORDER = Definition.of(
            "order",
            Order.class,
            Receipt.class,
            (ctx, order) -> ctx.step(
                    "charge", () -> new Receipt(order.item(), new BigDecimal(order.cents()).movePointLeft(2))));

    static final Definition<Order, String> PARENT = Definition.of(
            "parent",
            Order.class,
            String.class,
            (ctx, order) -> ctx.call(Invocation.of(ORDER, order)).item());

    static final Definition<String, String> ASK = Definition.of(
            "ask",
            String.class,
            String.class,
            (ctx, name) -> name + ": " + ctx.receive(APPROVAL).await());

    static final Definition<String, String> LISTEN = Definition.of(
            "listen",
            String.class,
            String.class,
            (ctx, name) -> ctx.event(APPROVAL).await());

    static final Definition<String, String> PROMISE = Definition.of(
            "promise",
            String.class,
            String.class,
            (ctx, name) -> ctx.promise(APPROVAL).await());

    static final Definition<String, String> FAIL = Definition.of(
            "fail",
            String.class,
            String.class,
            (ctx, name) -> ctx.step(
                    "break",
                    () -> {
                        throw new IllegalStateException("no route to " + name);
                    },
                    StepOptions.retry(1)));

    static final Definition<Integer, Void> COUNT_UP = Definition.of("count-up", Integer.class, (ctx, most) -> {
        for (int i = 1; i <= most; i++) {
            ctx.publish(PROGRESS, i);
        }
        ctx.receive(APPROVAL).await();
        ctx.publish(PROGRESS, most + 1);
    });

    static final Definition<Void, String> NOTHING =
            Definition.of("nothing", Void.class, String.class, (ctx, none) -> "done");

    static final Dag<Order, String> PAIR = Dag.of("pair", Order.class, dag -> {
        var first = dag.task("first", task -> task.input().item());
        return dag.after(first).task("second", (task, item) -> printed(item)).retry(1);
    });

    private static String printed(String item) {
        if (item.equals("torn page")) {
            throw new TerminalException("The page is torn.");
        }
        return item + "!";
    }

    /** An object that counts. */
    @VirtualObject("counter")
    static final class Counter {
        @Handler
        public int add(ObjectContext ctx, Integer amount) {
            int sum = ctx.get(COUNT).orElse(0) + amount;
            ctx.set(COUNT, sum);
            return sum;
        }

        @Handler
        public String keep(ObjectContext ctx, String name) {
            return name + ctx.receive(APPROVAL).await();
        }
    }

    /** Reports something, and goes on when the test lets it. */
    Definition<String, String> load() {
        return Definition.of(
                "load",
                String.class,
                String.class,
                (ctx, name) -> ctx.step("read", () -> {
                    StepLog.append(Level.INFO, "shop.Import", "reads " + name);
                    StepLog.append(Level.WARN, "shop.Import", "page 2 is empty");
                    ctx.attempt().progress(0.5, "page 1 of 2");
                    loads.take();
                    return name;
                }));
    }

    static final Definition<RunEvent, Void> ALERT = Definition.of("alert", RunEvent.class, (ctx, event) -> {});

    static final Definition<Integer, Void> MANY = Definition.of("many", Integer.class, (ctx, count) -> {
        for (int i = 0; i < count; i++) {
            ctx.startChild(Invocation.of(NOTHING, null));
        }
    });

    /** Its awakeable is answered by its token. */
    Definition<String, Reply> hook() {
        return hook("hook");
    }

    /** Its awakeable is answered through a webhook. */
    Definition<String, Reply> signed() {
        return hook("signed");
    }

    private Definition<String, Reply> hook(String definition) {
        return Definition.of(definition, String.class, Reply.class, (ctx, name) -> {
            Awakeable<Reply> reply = ctx.awakeable(Reply.class);
            ctx.step("send", () -> {
                tokens.add(reply.token());
            });
            return reply.await();
        });
    }

    Object[] all() {
        return new Object[] {
            ORDER,
            PARENT,
            ASK,
            LISTEN,
            PROMISE,
            FAIL,
            COUNT_UP,
            NOTHING,
            ALERT,
            PAIR,
            MANY,
            new Counter(),
            hook(),
            signed(),
            load()
        };
    }
}
