package dev.perdure.internal.execution;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.child.Children;
import dev.perdure.internal.execution.mail.Turns;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The context of the engine's own functions: what they can do in addition to the functions of users. */
public interface EngineContext extends WorkflowContext {
    /** The outcomes of the tasks that the run comes after. */
    List<Premise> premises();

    /** Waits, out of memory, until all tasks that the run comes after have ended. Records nothing. */
    void awaitPremises();

    /** When the run's timeout ends, if it has one. */
    Optional<Instant> deadline();

    /**
     * Leaves the deadline to the run's tasks: it is neither delivered to the run itself nor inherited by what the run
     * starts.
     */
    void leaveDeadlineToTasks();

    /** Why the run was cancelled, if that happened before it recorded anything. */
    Optional<String> cancelledFromTheStart();

    /** Decodes the outcome of another run. If the type no longer fits, pauses the run. */
    @Nullable
    Object decode(Payload payload, Type type, PayloadPlace place);

    /** A step whose type is known by reflection. */
    @Nullable
    Object perform(String name, Type type, Callable<?> body, StepOptions options);

    /** The last step of the run: its result is the outcome of the run, and one commit records it and ends the run. */
    Encoded performLast(String name, Type type, Callable<?> body, StepOptions options);

    /** Whether the next recorded entry is {@code true} as the answer of {@link #patched} to this id. */
    boolean isDecided(String decision);

    /** Encodes and decodes for this run. */
    Values values();

    /** The output of a task as the application's codec wrote it, wherever it was stored: for outputs inside others. */
    Payload encoded(Payload output, PayloadPlace place);

    /** Begins anew as a run of another definition with the same types, which another worker may have. */
    Error continueAs(String definition, @Nullable Object input);

    /** Makes the run's next input from the value that the code passes to {@code continueAsNew}. */
    void makeNextInput(UnaryOperator<@Nullable Object> made);

    /**
     * Refuses a value that cannot be stored with this type.
     *
     * @param what names the value in the message
     */
    void requireStorable(@Nullable Object value, Type type, String what);

    /** The next event of this name, with any value. */
    DurableFuture<@Nullable Void> occurrence(String event);

    /** Starts a child by its name and types, on behalf of a run whose settings it inherits. */
    <T extends @Nullable Object> Child<T> startChild(
            Target target, @Nullable Object input, ChildOptions options, Children.Behalf behalf);

    /** The settings of a run as the store has them, with no input. */
    NewRun settingsOf(RunId run);

    /** The tasks that were started with this run. */
    List<Runs.TaskRow> tasks();

    /** Cancels runs. A second call has no effect. */
    void cancel(Collection<RunId> runs, String reason);

    /** Turns of a run that is a state machine. */
    Turns turns();

    /** A run that this run starts, with the headers that interceptors give it. */
    NewRun intercepted(NewRun run);

    /** The tasks that start with this run, if it is the run of a DAG that is registered here. */
    List<Task> tasksOf(NewRun run);

    /** Pauses the run until the code is fixed. The caller throws what this returns. */
    Error stop(String reason);
}
