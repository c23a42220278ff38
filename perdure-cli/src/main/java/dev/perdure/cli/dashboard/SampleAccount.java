package dev.perdure.cli.dashboard;

import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;

/** The bonus points of a customer. A slow register makes calls wait for each other. */
@VirtualObject("account")
public final class SampleAccount {
    private static final StateKey<Integer> POINTS = StateKey.of("points", Integer.class);
    private static final StateKey<Integer> PURCHASES = StateKey.of("purchases", Integer.class);
    private static final int REGISTER_MILLIS = 3_000;

    /** Adds the points of an order. */
    @Handler
    public int add(ObjectContext ctx, SampleShop.Order order) {
        int points = ctx.get(POINTS).orElse(0) + order.cents() / 100;
        ctx.step("register", () -> SampleShop.work(REGISTER_MILLIS));
        ctx.set(POINTS, points);
        ctx.set(PURCHASES, ctx.get(PURCHASES).orElse(0) + 1);
        return points;
    }
}
