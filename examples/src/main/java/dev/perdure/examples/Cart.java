package dev.perdure.examples;

import dev.perdure.TypeRef;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.util.ArrayList;
import java.util.List;

/** A shopping cart per user. Its state is durable, and only one call per user changes it at a time. */
// region cart
@VirtualObject("cart")
public final class Cart {
    /** An item in the cart. */
    public record Item(String name, int cents) {}

    /** The number of items and the total price. */
    public record Summary(int items, int cents) {}

    static final StateKey<List<Item>> ITEMS = StateKey.of("items", new TypeRef<>() {});

    private final Cashier cashier;

    /** Carts that charge through this cashier. */
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

    /** Charges for all items and empties the cart. */
    @Handler
    public String checkout(ObjectContext ctx) {
        Summary summary = summary(ctx.get(ITEMS).orElse(List.of()));
        String payment = ctx.step("charge", () -> cashier.charge(ctx.key(), summary.cents()));
        ctx.clearAll();
        return payment;
    }

    /** The items in the cart. A shared handler never waits, not even for a checkout that takes a day. */
    @Handler
    public List<Item> contents(SharedObjectContext ctx) {
        return ctx.get(ITEMS).orElse(List.of());
    }

    private static Summary summary(List<Item> items) {
        return new Summary(items.size(), items.stream().mapToInt(Item::cents).sum());
    }

    /** Charges customers. */
    @FunctionalInterface
    public interface Cashier {
        /** Charges a user and returns the id of the payment. */
        String charge(String user, int cents);
    }
}
// endregion
