package dev.perdure.internal.execution;

import dev.perdure.RetryPolicy;
import dev.perdure.RunId;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.error.StoreException;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import java.util.function.Function;

/** What an execution needs of the worker it runs in. */
public interface Host {
    /**
     * How executions behave in this engine.
     *
     * @param codec how values become bytes
     * @param stepTypes how result types are found
     * @param retry the policy of steps that name none
     * @param warmWindow up to where a wait keeps its thread
     * @param maxPayloadBytes the largest value
     * @param unloadAfterSteps whether to leave memory after every step, to test replays
     */
    record Rules(
            Codec codec,
            StepTypes stepTypes,
            RetryPolicy retry,
            Duration warmWindow,
            int maxPayloadBytes,
            boolean unloadAfterSteps) {}

    /** How executions behave. */
    Rules rules();

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

    /** A run waits, because the store does not answer what it asks. */
    void waits(RunRef run, StoreException trouble);

    /** Applies a transition and returns when it is durable, however long the store is in trouble. */
    Outcome commit(Change.Advance transition);

    // Questions, which throw StoreException: the run asks again.

    /** More of a long journal. */
    Journals.Page read(RunRef run, int afterPosition);

    /** Mail that was not taken yet, from after a number; at least one if there is one. */
    List<Mailboxes.Arrived> unread(RunRef run, long afterNumber);

    /** A committed value of a virtual object. */
    Optional<Payload> state(ObjectKey object, String name);

    /** All committed values of a virtual object. */
    SortedMap<String, Payload> state(ObjectKey object);

    // What goes on until the store has answered.

    /** What a method reference names. */
    Registered.Target target(WorkflowMethod method);

    /** What a run starts when it starts a graph. */
    CallTarget callee(Dag<?, ?> graph);

    /** The handler that a method reference names. */
    ObjectHandler handler(ObjectMethod method);

    /**
     * Brings an event to every run that waits for it.
     *
     * @param token names this emission, so that it arrives once although it is made twice
     * @return how many runs it reached
     */
    int emit(String event, String key, Payload payload, UUID token);

    /** The tokens of this store's awakeables. */
    Tokens tokens();

    /** Brings mail to the awakeable with this token; says whether it arrived. */
    boolean answer(String token, Function<Channel, Mail> mail);

    /** The runs that were born with this one. */
    List<Runs.TaskRow> tasks(RunRef run);

    /** Asks runs to end. */
    void cancel(Collection<RunId> runs, String reason);

    /** A run that has left memory is to wait for a person. */
    void pause(RunRef run, String definition, String reason);

    /** The execution has left memory, but its thread is kept until the worker ends. */
    void keep(Execution execution);

    /** The execution has left memory. */
    void left(Execution execution, Departure departure);
}
