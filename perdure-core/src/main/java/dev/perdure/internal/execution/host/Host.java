package dev.perdure.internal.execution.host;

import dev.perdure.Invocation;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;

/** What an execution needs of the worker it runs in. */
public interface Host {
    /** What runs ask of the store. */
    StoreAccess store();

    /** How executions behave. */
    ExecutionRules rules();

    /** Time, chance and waits. */
    Clockwork clockwork();

    /** The store's time. */
    StoreClock clock();

    /** The worker. */
    WorkerId worker();

    /** How long the worker counts as alive without a sign of life. */
    Duration lease();

    /** Whether the worker's lease still holds, by its own clock. */
    boolean alive();

    /** What a method reference names. */
    Registered.Target target(WorkflowMethod method);

    /** What an invocation names. */
    CallTarget callee(Invocation<?> invocation);

    /** The same for a run that waits for the result, which not every DAG has. */
    CallTarget awaitedCallee(Invocation<?> invocation);

    /** The handler that a method reference names. */
    ObjectHandler handler(ObjectMethod method);

    /** The tokens of this store's awakeables. */
    Tokens tokens();

    /** A run that has left memory is to wait for a person. */
    void pause(RunRef run, String definition, String reason);

    /** The execution has left memory, but its thread is kept until the worker ends. */
    void keep(LoadedRun execution);

    /** The execution has left memory. */
    void left(LoadedRun execution, Departure departure);
}
