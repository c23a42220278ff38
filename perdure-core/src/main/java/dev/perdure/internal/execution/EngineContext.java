package dev.perdure.internal.execution;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.DurableFuture;
import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.mail.Turns;
import dev.perdure.internal.execution.value.Encoded;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Task;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What functions of the engine's own can do besides what a user's can. */
public interface EngineContext extends WorkflowContext {
    /** How those ended that the run comes after. */
    List<Premise> premises();

    /** Waits until all have ended that the run comes after; out of memory, and nothing is recorded. */
    void awaitPremises();

    /** When the run's timeout ends, if it has one. */
    Optional<Instant> deadline();

    /** The deadline is for the run's tasks to keep: it is neither delivered to the run itself nor inherited by what it starts. */
    void leaveDeadlineToTasks();

    /** Why the run was cancelled, if that was before anything of it was recorded. */
    Optional<String> cancelledFromTheStart();

    /** Reads back what another run gave. If the type does not fit any more, the run is paused. */
    @Nullable
    Object decode(Payload payload, Type type);

    /** A step of a type that is known as reflection has it. */
    @Nullable
    Object perform(String name, Type type, Callable<?> body, StepOptions options);

    /** The last thing the run does: what it gives is the outcome, and one commit records it and ends the run. */
    Encoded performLast(String name, Type type, Callable<?> body, StepOptions options);

    /** Whether the next thing recorded is that {@link #patched} said yes to this. */
    boolean isDecided(String decision);

    /** Makes the run's next input from what the code gives to {@code continueAsNew}. */
    void makeNextInput(UnaryOperator<@Nullable Object> made);

    /**
     * Refuses a value that cannot be stored with this type.
     *
     * @param what names the value in the message
     */
    void requireStorable(@Nullable Object value, Type type, String what);

    /** An event of this name, whatever comes with it. */
    DurableFuture<@Nullable Void> occurrence(String event);

    /** Starts a child by what it is. */
    <T extends @Nullable Object> Child<T> startChild(Target target, @Nullable Object input, ChildOptions options);

    /** The runs that were born with this one. */
    List<Runs.TaskRow> tasks();

    /** Asks runs to end. Twice is fine. */
    void cancel(Collection<RunId> runs, String reason);

    /** Turns of a run that is a state machine. */
    Turns turns();

    /** What is born with this run, if it is the run of a DAG that is registered here. */
    List<Task> tasksOf(NewRun run);

    /** Pauses the run for a person to mend the code. To be thrown. */
    Error stop(String reason);
}
