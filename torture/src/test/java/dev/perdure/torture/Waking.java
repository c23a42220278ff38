package dev.perdure.torture;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Topic;
import dev.perdure.WorkflowContext;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * A run that waits over and over, and notes how long it took from the sending until its code went on. What it waits for
 * carries the time of its sending, by the clock of the machine, which all processes on it share.
 */
final class Waking {
    static final Topic<Integer> WAITS = Topic.of("waits", Integer.class);
    static final Topic<String> GO = Topic.of("go", String.class);

    private Waking() {}

    /** What it waits for. */
    enum Kind {
        MESSAGE,
        PROMISE,
        CHILD
    }

    /**
     * What a waiter is to do.
     *
     * @param times how often it waits
     * @param childQueue where its children run
     */
    record Task(Kind kind, int times, String childQueue) {}

    /** How long each time took, in microseconds. */
    record Took(List<Long> micros) {}

    static Definition<Task, Took> waiter() {
        return Definition.of("waiter", Task.class, Took.class, (ctx, task) -> {
            List<Long> micros = new ArrayList<>();
            for (int time = 1; time <= task.times(); time++) {
                DurableFuture<Long> sent = awaited(ctx, task, time);
                ctx.publish(WAITS, time); // goes out with the commit after which it waits
                long sentAt = sent.await();
                long goesOnAt = now();
                micros.add(ctx.step("took", () -> goesOnAt - sentAt));
            }
            return new Took(micros);
        });
    }

    private static DurableFuture<Long> awaited(WorkflowContext ctx, Task task, int time) {
        return switch (task.kind()) {
            case MESSAGE -> ctx.receive(sent(time));
            case PROMISE -> ctx.promise(sent(time));
            case CHILD ->
                ctx.startChild(
                        Invocation.of(errand(), time),
                        ChildOptions.childId(child(ctx.runId().value(), time)).queue(task.childQueue()));
        };
    }

    /** Ends when it is told to, with the time of that. */
    static Definition<Integer, Long> errand() {
        return Definition.of("errand", Integer.class, Long.class, (ctx, time) -> {
            ctx.publish(WAITS, time);
            ctx.receive(GO).await();
            return now();
        });
    }

    /** Carries the time of its sending. */
    static Topic<Long> sent(int time) {
        return Topic.of("sent-" + time, Long.class);
    }

    static String child(String waiter, int time) {
        return waiter + "-" + time;
    }

    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }
}
