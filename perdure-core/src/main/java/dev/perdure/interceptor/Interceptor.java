package dev.perdure.interceptor;

import dev.perdure.PerdureBuilder;
import dev.perdure.WorkflowContext;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Puts code of the application around what the engine runs: the tenant, the logging context or the security context of
 * a workflow in its steps, or a timer of one's own. Register it with {@link PerdureBuilder#interceptor}. The one that is
 * registered first is the outermost.
 *
 * <pre>{@code
 * public <T> Callable<T> step(StepCall call, Callable<T> body) {
 *     String tenant = TENANT.get(); // on the thread of the workflow
 *     return () -> {
 *         TENANT.set(tenant); // on the thread of the body
 *         try {
 *             return body.call();
 *         } finally {
 *             TENANT.remove();
 *         }
 *     };
 * }
 * }</pre>
 *
 * <p>Several threads call it at once. It must not use the context of the workflow.
 */
public interface Interceptor {
    /**
     * Wraps the body of a step, a transaction step or a task. The engine calls it on the thread of the workflow, also for
     * {@link WorkflowContext#stepAsync(String, dev.perdure.StepBody)}, before the body runs; it does not call it for a
     * step that the journal answers. It calls the body that is returned on the thread of the attempt, once for each
     * attempt. What either of them throws fails the attempt, like an exception of the body.
     *
     * @param call the step
     * @param body what would run without this interceptor
     * @return what runs in its place
     */
    default <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
        return body;
    }
}
