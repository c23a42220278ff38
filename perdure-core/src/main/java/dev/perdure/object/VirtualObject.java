package dev.perdure.object;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a class as a type of virtual object. Each object has a key, a durable state and one writer at a time.
 *
 * <pre>{@code
 * @VirtualObject("cart")
 * public final class Cart {
 *     private static final StateKey<Integer> ITEMS = StateKey.of("items", Integer.class);
 *
 *     @Handler
 *     public int add(ObjectContext ctx, int count) {
 *         int items = ctx.get(ITEMS).orElse(0) + count;
 *         ctx.set(ITEMS, items);
 *         return items;
 *     }
 *
 *     @Handler
 *     public int size(SharedObjectContext ctx) {
 *         return ctx.get(ITEMS).orElse(0);
 *     }
 * }
 *
 * int items = perdure.object(Cart.class, "user-123").call(Cart::add, 2);
 * }</pre>
 *
 * <p>One instance of the class serves all keys. So keep the data of one object in its state, not in fields. You need
 * not create an object: every key exists, with an empty state until a handler sets a value.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface VirtualObject {
    /** The name under which the store keeps the objects. */
    String value();
}
