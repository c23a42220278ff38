package dev.perdure.compatibility;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** A workflow whose payloads use what the codec makes Jackson do: records, sealed types, times, optional values. */
class Orders {
    record Order(String id, List<Line> lines, Optional<Instant> wanted) {}

    record Line(String item, int count) {}

    sealed interface Outcome {}

    record Shipped(String id, Instant at, int pieces) implements Outcome {}

    record Refused(String reason) implements Outcome {}

    private final AtomicInteger attempts = new AtomicInteger();

    @Workflow("order")
    Outcome process(WorkflowContext ctx, Order order) {
        int pieces = ctx.step(
                "count", () -> order.lines().stream().mapToInt(Line::count).sum());
        Outcome checked = ctx.step("check", () -> check(pieces));
        if (checked instanceof Refused) {
            return checked;
        }
        ctx.sleep(Duration.ofDays(1));
        return ctx.step("ship", () -> {
            if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("The van is late");
            }
            return new Shipped(order.id(), order.wanted().orElseThrow(), pieces);
        });
    }

    private static Outcome check(int pieces) {
        return pieces > 10 ? new Refused("Too many") : new Shipped("checked", Instant.EPOCH, pieces);
    }

    @Workflow("failing")
    String fail(WorkflowContext ctx, String why) {
        throw new IllegalArgumentException(why);
    }
}
