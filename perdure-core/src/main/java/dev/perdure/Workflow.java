package dev.perdure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method as a workflow: a function that survives crashes. The engine records everything that the method does
 * through its context. To continue a run, the engine calls the method again from the top and replays what it recorded.
 *
 * <pre>{@code
 * @Workflow("order")
 * public Receipt process(WorkflowContext ctx, Order order) { … }
 * }</pre>
 *
 * <p>The method takes a {@link WorkflowContext} and an optional input. The engine encodes and decodes values by the
 * types of the method's signature. The store keeps the name with every run, so keep the name when you rename the
 * method.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Workflow {
    /** The name under which the store keeps the runs. */
    String value();

    /**
     * Whether runs stay with the version of the worker that begins them: only workers of that version continue them. The
     * worker needs a version ({@link PerdureBuilder#version}). By default a worker of any version continues a run.
     */
    boolean pinned() default false;
}
