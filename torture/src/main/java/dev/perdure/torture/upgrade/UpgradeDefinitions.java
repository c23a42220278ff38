package dev.perdure.torture.upgrade;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.PerdureBuilder;
import dev.perdure.RetryPolicy;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.Duration;

/** What the runs of a dump do. Their names and steps are those of the dumps that are kept: never change them. */
final class UpgradeDefinitions {
    static final Topic<String> NEWS = Topic.of("news", String.class);
    static final Topic<String> TOKEN = Topic.of("token", String.class);
    static final String QUEUE = "narrow";
    static final String FIRED = "upgrade-fired";

    /** Longer than it takes to make a dump. */
    private static final Duration LONG = Duration.ofMinutes(1);

    private static final Queue NARROW = Queue.named(QUEUE).concurrency(1);
    private static final Limiter FEW = Limiter.named("few").concurrency(1);

    final Definition<String, String> steps = Definition.of("upgrade-steps", String.class, String.class, (ctx, in) -> {
        String one = ctx.step("one", () -> in + " one");
        return ctx.step("two", () -> one + " two");
    });
    final Definition<String, String> naps = Definition.of("upgrade-naps", String.class, String.class, (ctx, in) -> {
        String one = ctx.step("one", () -> in + " one");
        ctx.sleep(LONG);
        return ctx.step("two", () -> one + " two");
    });
    final Definition<String, String> waits = Definition.of(
            "upgrade-waits",
            String.class,
            String.class,
            (ctx, in) -> in + " " + ctx.receive(NEWS).await());
    final Definition<String, String> asks = Definition.of("upgrade-asks", String.class, String.class, (ctx, in) -> {
        Awakeable<String> answer = ctx.awakeable(String.class);
        ctx.publish(TOKEN, answer.token());
        return in + " " + answer.await();
    });
    final Definition<String, String> later =
            Definition.of("upgrade-later", String.class, String.class, (ctx, in) -> ctx.step("late", () -> in));
    final Definition<String, String> parent =
            Definition.of("upgrade-parent", String.class, String.class, (ctx, in) -> ctx.call(Invocation.of(naps, in)));
    final Definition<String, String> fired =
            Definition.of(FIRED, String.class, String.class, (ctx, in) -> ctx.step("fired", () -> in));
    final Definition<String, String> fails;
    final Definition<String, String> backsOff;
    final Definition<String, String> holds;
    final Definition<String, String> limited;
    final Dag<String, String> dag;
    private final Hold side;

    UpgradeDefinitions(Hold side) {
        this.side = side;
        this.fails = Definition.of(
                "upgrade-fails",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("try", () -> side.fail(in), StepOptions.retry(1)));
        this.backsOff = Definition.of(
                "upgrade-backs-off",
                String.class,
                String.class,
                (ctx, in) -> ctx.step(
                        "try",
                        () -> side.fail(in),
                        StepOptions.retry(RetryPolicy.standard().initialDelay(LONG))));
        this.holds = Definition.of(
                "upgrade-holds", String.class, String.class, (ctx, in) -> ctx.step("hold", () -> side.hold(in)));
        this.limited = Definition.of(
                "upgrade-limited",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("hold", () -> side.hold(in), StepOptions.limit(FEW)));
        this.dag = Dag.of("upgrade-dag", String.class, tasks -> {
            var top = tasks.task("top", t -> "top");
            tasks.task("never", t -> "never").onlyIf(t -> false);
            var held = tasks.after(top).task("held", (t, before) -> side.hold(before + " held"));
            return tasks.after(held).task("join", (t, before) -> before + " join");
        });
    }

    /** Lets a worker know all. The older one does not know {@code upgrade-later}. */
    void register(PerdureBuilder worker) {
        worker.register(steps, naps, waits, asks, parent, fired, fails, backsOff, holds, limited, dag)
                .register(new UpgradeList(side))
                .queues(StartOptions.DEFAULT_QUEUE)
                .queues(NARROW)
                .limiters(FEW)
                .schedules(
                        Schedule.of("upgrade-schedule", Times.every(Duration.ofSeconds(1)), Invocation.of(fired, "x")));
        if (side == Hold.AFTER) {
            worker.register(later);
        }
    }
}
