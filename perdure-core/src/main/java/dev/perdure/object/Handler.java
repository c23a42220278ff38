package dev.perdure.object;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method of a {@link VirtualObject} as one of its handlers. The method takes a context and an optional input.
 * The context decides what kind of handler it is:
 *
 * <ul>
 *   <li>with an {@link ObjectContext} it is exclusive: the calls of one key run one at a time, in the order of their
 *       arrival, and may change the state;
 *   <li>with a {@link SharedObjectContext} it is shared: it runs concurrently with all other calls, reads what the
 *       exclusive calls have committed, and cannot change the state.
 * </ul>
 *
 * <p>A call is a run. Its definition is the name of the object and the name of the handler: {@code cart/add}.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Handler {
    /** The name under which the store keeps the calls. The method's name by default. */
    String value() default "";

    /**
     * Whether it runs once per key, however often it is called: the main handler of a workflow object. Its run has the
     * id {@code type/key}, with a short text before it if the store has shards. A second call with the same input gets
     * the result of the first. Only for exclusive handlers.
     */
    boolean once() default false;
}
