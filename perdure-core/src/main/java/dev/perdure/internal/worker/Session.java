package dev.perdure.internal.worker;

import dev.perdure.Invocation;
import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.commit.Committer;
import dev.perdure.internal.commit.PartCommitters;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.execution.host.AttemptStacks;
import dev.perdure.internal.execution.host.Departure;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.LoadedRun;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.object.CallPipelines;
import dev.perdure.internal.object.PipelineHost;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * One incarnation of a worker: its id, its lease and the runs that it holds. When the lease is lost, the session is
 * over for good, the worker drops everything in it, and joins again as a new one.
 */
public final class Session implements Host, PipelineHost {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");

    private final WorkerId id;
    private final String name;
    private final Settings settings;
    private final SessionLease lease;
    private final LoadedRuns runs = new LoadedRuns();
    private final StoreClock clock;
    private final Committer committer;
    private final SessionStore store;
    private final ExecutionRules rules;
    private final Tokens tokens;
    private final Waiters<RunRef, Runs.Ended> waiters;
    private final Registry registry;
    private final CallTargets targets;
    private final Listeners listeners;
    private final Home home;
    private final Shared shared;
    private final Acquisitions acquisitions;
    private final AttemptStacks attemptStacks = new AttemptStacks();
    private final CallPipelines pipelines = new CallPipelines(this);
    private volatile boolean closing;

    Session(WorkerId id, Settings settings, Duration leaseLength, Shared shared, Home home) {
        this.id = id;
        this.name = id.value().toString();
        this.shared = shared;
        this.settings = settings;
        this.lease = new SessionLease(settings.clockwork(), leaseLength);
        this.clock = shared.clock();
        this.waiters = shared.waiters();
        this.registry = shared.registry();
        this.targets = new CallTargets(registry, shared.dags());
        this.listeners = shared.listeners();
        this.home = home;
        this.acquisitions = new Acquisitions(home::acquired);
        this.tokens = new Tokens(
                settings.store().mailboxes().secret(), settings.parts().stores().size() > 1);
        this.committer = new Committer(
                settings.ledger(), settings.clockwork(), id, settings.store().lanes(), this::alive);
        this.store = new SessionStore(settings, committer, shared.part(), shared.clients(), clock, id, this::alive);
        this.rules = settings.rules()
                .with(settings.rules().codec().through(store::payloads).transformingThrough(store::transform));
    }

    /** The worker that this is an incarnation of. */
    interface Home {
        /** How many more runs the session may hold. */
        int room(Session session);

        /** The version of the worker, with what it pins and what it drains now. */
        Dispatch.Version version();

        /** A run has left the session. */
        void left();

        /** The session may hold runs that it does not know of. */
        void forgot();

        /** A call that may have given runs to the session has ended, while {@link Acquisitions#areOver} is awaited. */
        void acquired();
    }

    /**
     * What a worker shares with its engine: the part of the store whose runs it holds, and what all workers use.
     *
     * @param workers the worker of the engine that can hold a run
     */
    public record Shared(
            int part,
            StoreClock clock,
            Waiters<RunRef, Runs.Ended> waiters,
            Listeners listeners,
            Registry registry,
            TypedDags dags,
            PartCommitters clients,
            Function<RunId, WorkerId> workers) {}

    public WorkerId id() {
        return id;
    }

    public Committer committer() {
        return committer;
    }

    /** The calls of virtual objects that this session executes one behind another. */
    public CallPipelines pipelines() {
        return pipelines;
    }

    @Override
    public SessionStore store() {
        return store;
    }

    /** The runs that it has in memory. */
    LoadedRuns runs() {
        return runs;
    }

    // ---- the lease

    SessionLease sessionLease() {
        return lease;
    }

    @Override
    public boolean alive() {
        return lease.holds();
    }

    @Override
    public Duration lease() {
        return lease.length();
    }

    /** The lease is lost: drops everything and writes nothing. Returns whether that is new. */
    boolean end() {
        if (!lease.end()) {
            return false;
        }
        runs.lose();
        pipelines.abandon();
        store.reports().hurry(); // Their thread ends.
        return true;
    }

    /** Loses the runs that are on another part of the store now: they continue there. */
    void loseMoved() {
        int moved = runs.lose(run -> !isHere(run));
        if (moved > 0) {
            LOG.info("Worker {} drops {} runs that have moved to another server and continue there.", id, moved);
        }
    }

    private boolean isHere(RunId run) {
        return settings.parts().has(shared.part(), run);
    }

    /**
     * The worker is closing: every run in memory, and every run that is just being started, leaves at its next call or
     * wait.
     */
    void giveBack() {
        closing = true;
        runs.giveBack();
    }

    // ---- what it executes

    @Override
    public int room() {
        return home.room(this);
    }

    /** As {@link #expect(RunId)} if there is room for this many runs. */
    public boolean expectIfRoom(RunId run, int count) {
        return runs.expectIfRoom(run, count, this::room);
    }

    @Override
    public boolean expect(RunId run) {
        return runs.expect(run);
    }

    @Override
    public void unexpect(RunId run) {
        runs.unexpect(run);
    }

    /** The calls under way that may give runs to this session. */
    public Acquisitions acquisitions() {
        return acquisitions;
    }

    /** Executes a run. */
    public void launch(HeldRun held, Journals.Page journal) {
        launch(held, journal, List.of());
    }

    /** Executes a run, and then the calls that are known to wait behind it. */
    private void launch(HeldRun held, Journals.Page journal, List<Claimed> next) {
        ObjectCall call = held.object();
        if (call == null || call.hold() != ObjectCall.Hold.EXCLUSIVE) {
            launch(held, journal, new HeldTurn(this, held));
            return;
        }
        pipelines.launch(call.object(), held, journal, next);
    }

    @Override
    public void launch(HeldRun held, Journals.Page journal, Turn turn) {
        Execution execution = new Execution(held, journal, this, turn);
        if (!runs.add(execution)) {
            LOG.warn(
                    "Run {} is already in memory, under epoch {} or a later one. It does not begin a second time.",
                    held.run().id(),
                    held.epoch());
            turn.left();
            return;
        }
        rules.measurements().loaded();
        if (!turn.isAhead()) {
            turn.tellBegun();
        }
        if (lease.isOver() || !isHere(held.run().id())) {
            execution.lose();
        }
        if (closing) {
            execution.giveBack();
        }
        settings.clockwork().fork("perdure-run-" + held.run().id(), execution);
    }

    /**
     * Launches runs that a transition handed over to the worker. None of them has run before.
     *
     * @param known the state of the virtual object that the ended run held, if it is known
     */
    public void handed(List<Claimed> runs, Optional<KnownState> known) {
        handed(runs, known, List.of());
    }

    /**
     * As {@link #handed(List, Optional)}.
     *
     * @param next calls of the same virtual object that wait behind the first of these runs
     */
    void handed(List<Claimed> runs, Optional<KnownState> known, List<Claimed> next) {
        for (Claimed claim : runs) {
            registry.find(claim.definition())
                    .ifPresent(definition -> launch(HeldRun.of(claim, definition, known), journalOf(claim), next));
        }
    }

    /**
     * A run that begins has no journal, with one exception: a cancel lets a run begin before the tasks that it comes
     * after have ended.
     */
    private static Journals.Page journalOf(Claimed handed) {
        return handed.control().cancel() == null ? Journals.Page.EMPTY : Journals.Page.UNREAD;
    }

    @Override
    public void forgot() {
        home.forgot();
    }

    @Override
    public void began(HeldRun held) {
        String definition = held.definition().target().name();
        listeners.tell(new RunChange(held.run().id(), definition, RunState.RUNNING, Optional.empty()));
        if (held.epoch() == Outcome.Started.FIRST_EPOCH) {
            rules.measurements().began(definition, held.origin().queue());
        }
    }

    // ---- calls of virtual objects

    @Override
    public Registered definition(String name) {
        return registry.find(name).orElseThrow();
    }

    @Override
    public <T> T acquiring(Supplier<T> call) {
        return acquisitions.during(call);
    }

    @Override
    public List<Outcome> commitEnds(List<Change> changes) {
        return store.untilReached(() -> "The end of a call of a virtual object", () -> committer.commitAll(changes));
    }

    // ---- what executions need

    @Override
    public ExecutionRules rules() {
        return rules;
    }

    @Override
    public Clockwork clockwork() {
        return settings.clockwork();
    }

    @Override
    public AttemptStacks attemptStacks() {
        return attemptStacks;
    }

    @Override
    public StoreClock clock() {
        return clock;
    }

    @Override
    public WorkerId worker() {
        return id;
    }

    @Override
    public String workerName() {
        return name;
    }

    @Override
    public WorkerId worker(RunId run) {
        return settings.parts().of(run) == shared.part() ? id : shared.workers().apply(run);
    }

    @Override
    public Dispatch.Version version() {
        return home.version();
    }

    @Override
    public ObjectHandler handler(ObjectMethod method) {
        return registry.handler(method);
    }

    @Override
    public Registered.Target target(WorkflowMethod method) {
        return registry.target(method);
    }

    @Override
    public CallTarget callee(Invocation<?> invocation) {
        return targets.of(invocation);
    }

    @Override
    public CallTarget awaitedCallee(Invocation<?> invocation) {
        return targets.ofChild(invocation);
    }

    @Override
    public Tokens tokens() {
        return tokens;
    }

    @Override
    public boolean onlyReplays() {
        return false;
    }

    @Override
    public boolean knowsTokens() {
        return true;
    }

    @Override
    public void pause(RunRef run, String definition, String reason) {
        Change.Command pause = new Change.Command(run.id(), Change.CommandKind.PAUSE, reason);
        Outcome outcome = store.command(run, pause);
        if (outcome instanceof Outcome.Commanded commanded && commanded.changed()) {
            listeners.tell(new RunChange(run.id(), definition, RunState.PAUSED, Optional.of(reason)));
        }
    }

    @Override
    public void keep(LoadedRun execution) {
        runs.keep(execution);
        if (lease.isOver()) {
            execution.lose();
        }
    }

    @Override
    public void left(LoadedRun execution, Departure departure) {
        runs.remove(execution);
        store.left(execution.ref());
        rules.measurements().unloaded();
        switch (departure) {
            case Departure.Ended ended -> {
                waiters.announce(
                        execution.ref(),
                        new Runs.Ended(execution.ref(), ended.state(), ended.outcome(), ended.reason()));
                tell(
                        execution,
                        ended.state(),
                        ended.reason().isEmpty() ? Optional.empty() : Optional.of(ended.reason()));
                execution
                        .createdAt()
                        .ifPresent(created -> rules.measurements()
                                .ran(execution.definition(), ended.state(), clock.nanosSince(created)));
            }
            case Departure.Moved moved -> {
                waiters.hint(execution.ref().id());
                tell(execution, moved.state(), moved.reason());
            }
            case Departure.Lost() -> waiters.hint(execution.ref().id());
        }
        home.left();
    }

    /** Tells the listeners about a change that the store made by itself. */
    void tell(RunChange change) {
        listeners.tell(change);
    }

    private void tell(LoadedRun execution, RunState state, Optional<String> reason) {
        listeners.tell(new RunChange(execution.ref().id(), execution.definition(), state, reason));
    }
}
