package dev.perdure.internal.execution.host;

import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;

/** What an execution needs from its worker. */
public interface Host {
    /** The store as runs use it. */
    StoreAccess store();

    /** The rules for executions. */
    ExecutionRules rules();

    /** The source of time, randomness and waits. */
    Clockwork clockwork();

    /** The store's time. */
    StoreClock clock();

    /** Which failed attempts are logged with their stacks. */
    AttemptStacks attemptStacks();

    /** The worker. */
    WorkerId worker();

    /** The same as text, for logs and interceptors. */
    String workerName();

    /** The worker of this process that can hold the run with this id: another one if the run is on another shard. */
    WorkerId worker(RunId run);

    /** The version of the worker, with what it pins and what it drains now. */
    Dispatch.Version version();

    /** How long the worker counts as alive after it last renewed its lease. */
    Duration lease();

    /** Whether the worker's lease still holds, by its own clock. */
    boolean alive();

    /** The workflow that a method reference names. */
    Registered.Target target(WorkflowMethod method);

    /** The workflow or DAG that an invocation names. */
    CallTarget callee(Invocation<?> invocation);

    /** The same for a run that waits for the result, which not every DAG has. */
    CallTarget awaitedCallee(Invocation<?> invocation);

    /** The handler that a method reference names. */
    ObjectHandler handler(ObjectMethod method);

    /** The tokens of awakeables in this store. */
    Tokens tokens();

    /** Whether executions only replay: they leave memory where the journal does not answer a call. */
    boolean onlyReplays();

    /** Whether the run gets the tokens that it had before. A replay of an exported history cannot know them. */
    boolean knowsTokens();

    /** A run that has left memory has to be paused. */
    void pause(RunRef run, String definition, String reason);

    /** The execution has left memory, but its thread stays until the worker ends. */
    void keep(LoadedRun execution);

    /** The execution has left memory. */
    void left(LoadedRun execution, Departure departure);
}
