package dev.perdure.interceptor;

import dev.perdure.PerdureBuilder;
import dev.perdure.WorkflowContext;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Puts code of the application around what the engine does: the tenant, the trace or the security context of a caller
 * into the runs that it starts, and from there into workflows and steps; or a timer of one's own. Register it with
 * {@link PerdureBuilder#interceptor}. The one that is registered first is the outermost. It sees nothing of the engine's
 * own runs, whose definitions begin with {@code perdure.}.
 *
 * <pre>{@code
 * public StartCall start(StartCall call) {
 *     return call.with("tenant", TENANT.get()); // on the thread of the caller
 * }
 *
 * public <T> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
 *     return () -> in(call.headers().get("tenant"), code); // on the thread of the run
 * }
 *
 * public <T> Callable<T> step(StepCall call, Callable<T> body) {
 *     String tenant = TENANT.get(); // on the thread of the run
 *     return () -> in(tenant, body); // on the thread of the body, which is another one for stepAsync
 * }
 * }</pre>
 *
 * <p>Several threads call it at once. It must not use the context of a workflow, and what it does must not change which
 * calls the workflow makes.
 */
public interface Interceptor {
    /**
     * A run is about to be started. The interceptor may give it headers: short texts that are stored with the run and
     * that every later {@link WorkflowCall} and {@link StepCall} of it has, in every process. A run that another run
     * starts begins with the headers of that one; the tasks of a DAG have the headers of their DAG; a fork has those of
     * the run from which it was made, and is not told of here. A run that SQL or a reaction starts has none.
     *
     * <p>The engine calls it on the thread of the caller before it writes anything, also for a start in the caller's own
     * transaction, for the start of a child or the call of a virtual object inside a run, and for each fire time of a
     * schedule. It does not call it again on a replay. If a start attaches to a run that exists already, that run keeps
     * its headers.
     *
     * <p>What it throws reaches the caller, and nothing is started. Inside of a run it pauses that run.
     *
     * @param call the start
     * @return the same with other headers; the engine looks at nothing else of it
     */
    default StartCall start(StartCall call) {
        return call;
    }

    /**
     * A message, the value or rejection of a promise or awakeable, or an event is about to be sent to a run. The
     * interceptor may give it headers. They are recorded with what the run receives, and its history shows them as
     * {@link dev.perdure.HistoryEvent.Status#HEADERS}; the code that receives it does not see them.
     *
     * <p>The engine calls it on the thread of the sender before it writes anything, also for what is sent in the
     * sender's own transaction, for the messages of a start and for what a run sends. It does not call it again on a
     * replay. It is not called for what SQL sends, for the results of children and for published values.
     *
     * <p>What it throws reaches the sender, and nothing is sent. Inside of a run it pauses that run; for events and
     * awakeables, which runs send in steps, it fails the attempt.
     *
     * @param call what is sent
     * @return the same with other headers; the engine looks at nothing else of it
     */
    default SendCall send(SendCall call) {
        return call;
    }

    /**
     * Wraps the code of a run: a workflow, a task of a DAG or a handler of a virtual object. The engine calls it, and
     * then what it returns, on the virtual thread of the run, each time that a worker enters the code: at the beginning,
     * and after each wait during which the run has left memory. So what it sets on the thread at the beginning of the
     * code it has to remove at the end. Short waits keep the thread, and nothing is called.
     *
     * <p>The code throws {@link Unwinding} if the run leaves memory before its end. An interceptor cannot change how a
     * run ends: what the code returned or threw counts, whatever the interceptor makes of it. An interceptor that throws
     * before it has called the code, or does not call it, pauses the run; what it throws afterwards is logged.
     *
     * @param call the run
     * @param code what would run without this interceptor; call it once, on this thread
     * @return what runs in its place
     */
    default <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
        return code;
    }

    /**
     * Wraps the body of a step, a transaction step or a task. The engine calls it on the thread of the run before each
     * attempt, also for {@link WorkflowContext#stepAsync(String, dev.perdure.StepBody)}; it does not call it for a step
     * that the journal answers. It calls the body that is returned on the thread of the attempt; that of a transaction
     * step once more, as the same attempt, if its transaction has to be repeated. What either of them throws fails the
     * attempt, like an exception of the body.
     *
     * <p>If the body runs out of its time, the interceptor gets the {@link java.util.concurrent.TimeoutException} that the
     * engine records, whatever the body itself returns or throws after the interrupt. A body that is interrupted because
     * the run is cancelled, reaches its deadline or leaves the worker has not failed: the interceptor gets what the body
     * makes of the interrupt, and the attempt is not counted.
     *
     * @param call the attempt
     * @param body what would run without this interceptor
     * @return what runs in its place
     */
    default <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
        return body;
    }
}
