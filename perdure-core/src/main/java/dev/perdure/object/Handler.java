package dev.perdure.object;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method of a {@link VirtualObject} as one of its handlers. It takes a context and, if it wants one, an input:
 *
 * <ul>
 *   <li>with an {@link ObjectContext} it is exclusive: the calls of one key run one at a time, in the order of their arrival,
 *       and may change the state;
 *   <li>with a {@link SharedObjectContext} it is shared: it runs beside them, sees what they have committed, and changes
 *       nothing.
 * </ul>
 *
 * <p>A call is a run, under the name of the object and the name of the handler: {@code cart/add}.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Handler {
    /** The name that calls are stored under; the method's own unless it is given. */
    String value() default "";

    /**
     * Whether it runs once per key, however often it is called: the main handler of a workflow object. Its run has the id
     * {@code type/key}; a second call with the same input gets the first one's result. Only for exclusive handlers.
     */
    boolean once() default false;
}
