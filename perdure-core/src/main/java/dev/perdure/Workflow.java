package dev.perdure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method as a workflow: a function that survives crashes, because everything it does through its context is
 * recorded, and that is entered again from the top to go on.
 *
 * <pre>{@code
 * @Workflow("order")
 * public Receipt process(WorkflowContext ctx, Order order) { … }
 * }</pre>
 *
 * <p>The method takes a {@link WorkflowContext} and, if it wants one, an input; its types are what is stored and read
 * back. The name is stored with every run, so keep it when you rename the method.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Workflow {
    /** The name that runs are stored under. */
    String value();
}
