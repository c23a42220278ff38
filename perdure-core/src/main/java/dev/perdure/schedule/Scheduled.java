package dev.perdure.schedule;

import dev.perdure.Workflow;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a {@link Workflow} method without input at the times of a cron expression, for the common case. Everything else
 * is a {@link Schedule}.
 *
 * <pre>{@code
 * @Workflow("clean-up")
 * @Scheduled(cron = "0 3 * * *", zone = "Europe/Berlin")
 * public void cleanUp(WorkflowContext ctx) { … }
 * }</pre>
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Scheduled {
    /** When: see {@link Times#cron}. */
    String cron();

    /** The time zone, such as {@code Europe/Berlin}. */
    String zone();

    /** The name of the schedule. The name of the workflow if it is left out. */
    String name() default "";

    /** What happens if a run has not ended at the next fire time. */
    Overlap overlap() default Overlap.SKIP;
}
