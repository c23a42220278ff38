package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.function.Supplier;

/** What a {@link CallPipeline} needs from its worker session. */
public interface PipelineHost {
    /** The worker. */
    WorkerId worker();

    /** Time and signals. */
    Clockwork clockwork();

    /** How many more runs the session may hold. */
    int room();

    /** The definition with this name, which the worker has registered. */
    Registered definition(String name);

    /** Enters the handler of a call, which holds its object or runs ahead of its turn. */
    void launch(HeldRun held, Journals.Page journal, Turn turn);

    /** Tells the listeners that a run is executed here. */
    void began(HeldRun held);

    /** Counts a run that is about to be started here as held. Returns whether it was not counted before. */
    boolean expect(RunId run);

    /** Stops counting a run that was expected. */
    void unexpect(RunId run);

    /**
     * Makes a call that may give runs to this session.
     *
     * @param call sends it, and launches what its answer brings before it returns
     */
    <T> T acquiring(Supplier<T> call);

    /** Commits the ends of calls. Repeats the request until the store answers. */
    List<Outcome> commitEnds(List<Change> changes);

    /**
     * The answer to an end was lost, and with it the runs that were handed over: the session may hold runs that it does
     * not know.
     */
    void forgot();
}
