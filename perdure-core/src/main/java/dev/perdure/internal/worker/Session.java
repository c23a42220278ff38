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
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One incarnation of a worker: its id, its lease and the runs that it holds. When the lease is lost, the session is
 * over for good, the worker drops everything in it, and joins again as a new one.
 */
public final class Session implements Host, PipelineHost {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.worker");

    private final WorkerId id;
    private final String name;
    private final Settings settings;
    private final Duration lease;
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
    private final Map<Long, Execution> executions = new ConcurrentHashMap<>();
    private final Acquisitions acquisitions;
    /** Executions that have left memory, and whose code does not end. */
    private final Set<LoadedRun> kept = ConcurrentHashMap.newKeySet();

    private final Set<RunId> starting = ConcurrentHashMap.newKeySet();
    /** Under it, places are counted and kept in one go. */
    private final ReentrantLock places = new ReentrantLock();
    /** How many places are kept for runs that a claim under way may bring. */
    private int placesKept;

    private final CallPipelines pipelines = new CallPipelines(this);
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean closing;
    private volatile long leaseEnds;

    Session(WorkerId id, Settings settings, Duration lease, Shared shared, Home home) {
        this.id = id;
        this.name = id.value().toString();
        this.shared = shared;
        this.settings = settings;
        this.lease = lease;
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
        this.rules = settings.rules().with(settings.rules().codec().through(store::payloads));
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

    // ---- the lease

    /** The lease begins with the request to join, which was sent at this monotonic time. */
    void joined(long sentNanos) {
        leaseEnds = sentNanos + lease.toNanos();
    }

    /**
     * The lease was renewed by a request that was sent at this monotonic time.
     *
     * @return whether that was in time: a lease that has ended by this process's own clock stays ended, because batches
     *     have been refused since
     */
    boolean renewed(long sentNanos) {
        boolean inTime = alive();
        if (inTime) {
            leaseEnds = sentNanos + lease.toNanos();
        }
        return inTime;
    }

    /** How long the lease still lasts by this process's own clock; {@link Clockwork#NEVER} if it has ended for good. */
    long nanosLeft() {
        return isOver()
                ? Clockwork.NEVER
                : Math.max(0, leaseEnds - settings.clockwork().nanoTime());
    }

    @Override
    public boolean alive() {
        return !isOver() && settings.clockwork().nanoTime() - leaseEnds < 0;
    }

    /** The lease is lost: drops everything and writes nothing. Returns whether that is new. */
    boolean end() {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        executions.values().forEach(Execution::lose);
        kept.forEach(LoadedRun::lose);
        pipelines.abandon();
        store.reports().hurry(); // Their thread ends.
        return true;
    }

    /** Loses the runs that are on another part of the store now: they continue there. */
    void loseMoved() {
        List<Execution> moved = executions.values().stream()
                .filter(execution -> !isHere(execution.ref().id()))
                .toList();
        moved.forEach(Execution::lose);
        if (!moved.isEmpty()) {
            LOG.info("Worker {} drops {} runs that have moved to another server and continue there.", id, moved.size());
        }
    }

    private boolean isHere(RunId run) {
        return settings.parts().has(shared.part(), run);
    }

    private boolean isOver() {
        return over.get();
    }

    /**
     * The worker is closing: every run in memory, and every run that is just being started, leaves at its next call or
     * wait.
     */
    void giveBack() {
        closing = true;
        executions.values().forEach(Execution::giveBack);
    }

    // ---- what it holds

    /** How many places are taken: by the runs that it holds, and for those that calls under way may bring. */
    int size() {
        places.lock();
        try {
            // In this order: a run is in memory before its place is no longer kept.
            return placesKept + starting.size() + executions.size();
        } finally {
            places.unlock();
        }
    }

    /**
     * Keeps the free places for the runs that a claim may bring, so that no other run takes them before they are in
     * memory.
     *
     * @param maxRuns how many places the session has
     * @param most how many places to keep at most
     * @return how many are kept, until {@link #freePlaces}
     */
    int keepPlaces(int maxRuns, int most) {
        places.lock();
        try {
            int count = Math.clamp((long) maxRuns - size(), 0, most);
            placesKept += count;
            return count;
        } finally {
            places.unlock();
        }
    }

    /** Keeps this many places no longer. */
    void freePlaces(int count) {
        places.lock();
        try {
            placesKept -= count;
        } finally {
            places.unlock();
        }
    }

    /** As {@link #expect(RunId)} if there is room for this many runs. */
    public boolean expectIfRoom(RunId run, int runs) {
        places.lock();
        try {
            return room() >= runs && expect(run);
        } finally {
            places.unlock();
        }
    }

    /** How many of its runs are in the body of a step. */
    long inBodies() {
        return executions.values().stream().filter(Execution::isInBody).count();
    }

    boolean isEmpty() {
        return executions.isEmpty() && starting.isEmpty();
    }

    boolean holds(RunRef run) {
        return executions.containsKey(run.key()) || starting.contains(run.id());
    }

    Collection<Execution> executions() {
        return executions.values();
    }

    Optional<Execution> execution(RunRef run, long epoch) {
        return Optional.ofNullable(executions.get(run.key())).filter(execution -> execution.epoch() == epoch);
    }

    /** Passes on that mail has arrived. Returns whether the store need not be asked. */
    boolean mailed(Hints.MailArrived mail) {
        Execution execution = executions.get(mail.run());
        return execution != null && execution.epoch() == mail.epoch() && execution.mailed(mail);
    }

    @Override
    public boolean expect(RunId run) {
        return starting.add(run);
    }

    @Override
    public void unexpect(RunId run) {
        starting.remove(run);
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
        if (!isNextOf(held.run(), execution)) {
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
        if (isOver() || !isHere(held.run().id())) {
            execution.lose();
        }
        if (closing) {
            execution.giveBack();
        }
        settings.clockwork().fork("perdure-run-" + held.run().id(), execution);
    }

    /**
     * Whether this execution replaces the ones before it: at most one execution of a run may write. An execution under
     * an earlier epoch has lost the run in the store, and loses what it had. An execution that ran ahead and was
     * discarded has nothing.
     */
    private boolean isNextOf(RunRef run, Execution execution) {
        while (true) {
            Execution before = executions.putIfAbsent(run.key(), execution);
            if (before == null) {
                return true;
            }
            if (!execution.follows(before)) {
                return false;
            }
            if (executions.replace(run.key(), before, execution)) {
                before.lose();
                return true;
            }
        }
    }

    @Override
    public int room() {
        return home.room(this);
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
    public Duration lease() {
        return lease;
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
        kept.add(execution);
        if (isOver()) {
            execution.lose();
        }
    }

    @Override
    public void left(LoadedRun execution, Departure departure) {
        executions.remove(execution.ref().key(), execution);
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
