package dev.perdure.examples;

import dev.perdure.TypeRef;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.util.ArrayList;
import java.util.List;

/** A shopping cart per user. Its state is durable, and one call of a user changes it at a time. */
// region cart
@VirtualObject("cart")
public final class Cart {
    /** Something to buy. */
    public record Item(String name, int cents) {}

    /** What a cart comes to. */
    public record Summary(int items, int cents) {}

    static final StateKey<List<Item>> ITEMS = StateKey.of("items", new TypeRef<>() {});

    private final Cashier cashier;

    /** With whoever takes the money. */
    public Cart(Cashier cashier) {
        this.cashier = cashier;
    }

    /** Adds an item. */
    @Handler
    public Summary add(ObjectContext ctx, Item item) {
        List<Item> items = new ArrayList<>(ctx.get(ITEMS).orElse(List.of()));
        items.add(item);
        ctx.set(ITEMS, items);
        return summary(items);
    }

    /** Charges for all that is in it, and empties it. */
    @Handler
    public String checkout(ObjectContext ctx) {
        Summary summary = summary(ctx.get(ITEMS).orElse(List.of()));
        String payment = ctx.step("charge", () -> cashier.charge(ctx.key(), summary.cents()));
        ctx.clearAll();
        return payment;
    }

    /** What is in it. Shared: it never waits, not even for a checkout that takes a day. */
    @Handler
    public List<Item> contents(SharedObjectContext ctx) {
        return ctx.get(ITEMS).orElse(List.of());
    }

    private static Summary summary(List<Item> items) {
        return new Summary(items.size(), items.stream().mapToInt(Item::cents).sum());
    }

    /** Takes money. */
    @FunctionalInterface
    public interface Cashier {
        /** Charges a user, and gives the id of the payment. */
        String charge(String user, int cents);
    }
}
// endregion
