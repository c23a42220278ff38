package dev.perdure.simulation.scene;

import dev.perdure.DurableFuture;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunConflictException;
import dev.perdure.testing.internal.simulation.Fault;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Steps, retries, steps beside each other, and sleeps. */
public final class Orders implements Scene {
    /** Longer than a lease, so that a worker may lose the run in the middle of it. */
    private static final Duration LONG = Duration.ofSeconds(6);

    private final Cast cast;
    private final Map<String, Integer> bodies = new TreeMap<>();
    private final int count;

    /** For one history. */
    public Orders(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(1, 3);
    }

    /** The workflows. */
    public static final class Code {
        private final Orders scene;

        Code(Orders scene) {
            this.scene = scene;
        }

        /** Reserves, sleeps, charges twice beside each other. */
        @Workflow(value = "orders", pinned = true)
        public int order(WorkflowContext ctx, int number) {
            int reserved = ctx.step("reserve", () -> scene.body(ctx.runId() + " reserve", number));
            Instant before = ctx.step("before", scene.cast::now);
            Duration nap = Duration.ofMillis(1L << (3 * number));
            ctx.sleep(nap);
            Duration slept = Duration.between(before, scene.cast.now());
            if (slept.compareTo(nap) < 0) {
                throw new AssertionError("The sleep of %s ended after %s.".formatted(nap, slept));
            }
            DurableFuture<Integer> one = ctx.stepAsync("one", () -> scene.body(ctx.runId() + " one", 1));
            DurableFuture<Integer> two = ctx.stepAsync("two", () -> scene.body(ctx.runId() + " two", 2));
            List<DurableFuture<Integer>> more = number % 2 == 0 ? List.of() : List.of(ctx.stepAsync("more", () -> 0));
            int nothing = DurableFuture.all(more).await().stream()
                    .mapToInt(Integer::intValue)
                    .sum();
            return reserved + one.await() + two.await() + nothing;
        }
    }

    private int body(String name, int value) {
        bodies.merge(name, 1, Integer::sum);
        if (cast.choices().oneIn(cast.isAimedWith(Fault.RENEWAL_MISSED) ? 2 : 24)) {
            cast.pauseUpTo(LONG);
        }
        cast.pause();
        if (cast.choices().oneIn(6)) {
            throw new IllegalStateException("A body fails now and then.");
        }
        return value;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            int number = i;
            cast.call(perdure -> perdure.start(Code::order, 3 * number + 1, StartOptions.id("order-" + number)));
            cast.pauseUpTo(Duration.ofMillis(50));
        }
        try {
            cast.perdure().start(Code::order, 1_000, StartOptions.id("order-0"));
            throw new AssertionError("The id of order-0 was taken, and a start with another input was not refused.");
        } catch (RunConflictException refused) {
            // as it must be
        }
    }

    @Override
    public void check() {
        for (int i = 0; i < count; i++) {
            String id = "order-" + i;
            if (cast.completed(id)) {
                int result = cast.result(id, Integer.class);
                Cast.must(result == 3 * i + 4, "Order %s gave %s.", id, result);
                for (String body : new String[] {"reserve", "one", "two"}) {
                    Cast.must(bodies.containsKey(id + " " + body), "The body %s of %s never ran.", body, id);
                }
            } else {
                cast.info(id)
                        .ifPresent(info -> Cast.must(
                                info.state().name().equals("CANCELLED"),
                                "Order %s is %s: %s",
                                id,
                                info.state(),
                                info.reason()));
            }
        }
    }
}
