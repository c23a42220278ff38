package dev.perdure.internal.engine;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Committer;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.engine.LocalCaller.Ride;
import dev.perdure.internal.execution.CallTarget;
import dev.perdure.internal.execution.Departure;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.execution.HeldRun;
import dev.perdure.internal.execution.Host;
import dev.perdure.internal.execution.KnownState;
import dev.perdure.internal.execution.Tokens;
import dev.perdure.internal.execution.Turn;
import dev.perdure.internal.execution.Unwind;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One incarnation of a worker: its id, its lease and the runs it holds. When the lease is lost the session is over for good,
 * everything in it is dropped, and the worker joins again as a new one.
 */
final class Session implements Host {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.worker");
    private static final int PAGE_BYTES = 256 * 1024;

    private final WorkerId id;
    private final Settings settings;
    private final Duration lease;
    private final StoreClock clock;
    private final Committer committer;
    private final StateReads stateReads;
    private final Refusals refusals;
    private final Tokens tokens;
    private final Waiters<RunRef, Runs.Ended> board;
    private final Registry registry;
    private final TypedDags graphs;
    private final Listeners listeners;
    private final Home home;
    private final Map<Long, Execution> executions = new ConcurrentHashMap<>();
    private final Acquisitions acquisitions;
    /** Those that have left memory, and whose code does not end. */
    private final Set<Execution> kept = ConcurrentHashMap.newKeySet();

    private final Set<RunId> starting = ConcurrentHashMap.newKeySet();
    private final Map<ObjectKey, CallPipeline> trains = new ConcurrentHashMap<>();
    /** Handlers that were seen to do more than touch the state. */
    private final Set<String> wantingMore = ConcurrentHashMap.newKeySet();

    private final AtomicLong provisionalKeys = new AtomicLong();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean closing;
    private volatile long leaseEnds;

    Session(WorkerId id, Settings settings, Duration lease, Shared shared, Home home) {
        this.id = id;
        this.settings = settings;
        this.lease = lease;
        this.clock = shared.clock();
        this.board = shared.board();
        this.registry = shared.registry();
        this.graphs = shared.graphs();
        this.listeners = shared.listeners();
        this.home = home;
        this.acquisitions = new Acquisitions(home::acquired);
        this.refusals = new Refusals(settings.clockwork());
        this.tokens = new Tokens(settings.store().mailboxes().secret());
        this.stateReads = new StateReads(settings.store().states(), settings.clockwork());
        this.committer = new Committer(
                settings.store().ledger(),
                settings.clockwork(),
                id,
                settings.store().lanes(),
                this::alive);
    }

    /** The worker whose incarnation it is. */
    interface Home {
        /** How many more runs the session may hold. */
        int room(Session session);

        /** A run has left the session. */
        void left();

        /** The session may hold runs that it does not know of. */
        void forgot();

        /** A call is over by which the session may have been given runs, while {@link Acquisitions#areOver} is awaited. */
        void acquired();
    }

    /** What a worker shares with the engine around it. */
    record Shared(
            StoreClock clock,
            Waiters<RunRef, Runs.Ended> board,
            Listeners listeners,
            Registry registry,
            TypedDags graphs) {}

    WorkerId id() {
        return id;
    }

    Committer committer() {
        return committer;
    }

    // ---- the lease

    /** The lease begins with the request to join, which was sent at this monotonic time. */
    void joined(long sentNanos) {
        leaseEnds = sentNanos + lease.toNanos();
    }

    /**
     * The lease was renewed by a request that was sent at this monotonic time.
     *
     * @return whether in time: a lease that has ended by our own clock stays so, because batches have been refused since
     */
    boolean renewed(long sentNanos) {
        boolean inTime = alive();
        if (inTime) {
            leaseEnds = sentNanos + lease.toNanos();
        }
        return inTime;
    }

    /** How long the lease lasts by our own clock; {@link Clockwork#NEVER} if it has ended for good. */
    long nanosLeft() {
        return isOver()
                ? Clockwork.NEVER
                : Math.max(0, leaseEnds - settings.clockwork().nanoTime());
    }

    @Override
    public boolean alive() {
        return !isOver() && settings.clockwork().nanoTime() - leaseEnds < 0;
    }

    /** The lease is lost: drop everything, write nothing. Says whether that is news. */
    boolean end() {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        executions.values().forEach(Execution::lose);
        kept.forEach(Execution::lose);
        trains.values().forEach(CallPipeline::abandon);
        return true;
    }

    private boolean isOver() {
        return over.get();
    }

    /** The worker closes: everything in memory, and what is still being started, is to leave at its next call or wait. */
    void giveBack() {
        closing = true;
        executions.values().forEach(Execution::giveBack);
    }

    // ---- what it holds

    int size() {
        return executions.size() + starting.size();
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

    /** Passes on that mail has arrived; says whether that was all there is to know. */
    boolean mailed(Hints.MailArrived mail) {
        Execution execution = executions.get(mail.run());
        return execution != null && execution.epoch() == mail.epoch() && execution.mailed(mail);
    }

    /** A run with this id is about to be started here: it counts as held. */
    boolean expect(RunId run) {
        return starting.add(run);
    }

    void unexpect(RunId run) {
        starting.remove(run);
    }

    /** The calls under way by which it may be given runs. */
    Acquisitions acquisitions() {
        return acquisitions;
    }

    /** Carries a run on. */
    void launch(HeldRun held, Journals.Page journal) {
        launch(held, journal, List.of());
    }

    /** Carries a run on, and those that are known to wait behind it. */
    private void launch(HeldRun held, Journals.Page journal, List<Claimed> next) {
        ObjectCall call = held.object();
        if (call == null || call.hold() != ObjectCall.Hold.EXCLUSIVE) {
            launch(held, journal, new OwnTurn(held));
            return;
        }
        CallPipeline expected = trains.computeIfAbsent(call.object(), object -> new CallPipeline(this, object, true));
        if (!expected.depart(held, journal, next)) {
            CallPipeline another = new CallPipeline(this, call.object(), true);
            trains.put(call.object(), another);
            another.depart(held, journal, next);
        }
    }

    /** Carries a run on that has its turn, or runs ahead of it. */
    void launch(HeldRun held, Journals.Page journal, Turn turn) {
        Execution execution = new Execution(held, journal, this, turn);
        if (!isNextOf(held.run(), execution)) {
            LOG.warn(
                    "Run {} is in memory already, under epoch {} or a later one; it is not begun a second time.",
                    held.run().id(),
                    held.epoch());
            turn.left();
            return;
        }
        if (!turn.isAhead()) {
            turn.tellBegun();
        }
        if (isOver()) {
            execution.lose();
        }
        if (closing) {
            execution.giveBack();
        }
        settings.clockwork().fork("perdure-run-" + held.run().id(), execution::run);
    }

    /**
     * Whether this execution takes the place of those before it: of the same run there is never more than one that may write.
     * One under an earlier epoch has left in the store and loses what it had; one that ran ahead and was dropped has nothing.
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

    /** The turn of a run that is held from the beginning. */
    private final class OwnTurn implements Turn {
        private final HeldRun held;

        OwnTurn(HeldRun held) {
            this.held = held;
        }

        @Override
        public boolean isAhead() {
            return false;
        }

        @Override
        public boolean isWatched() {
            return false;
        }

        @Override
        public boolean isDropped() {
            return false;
        }

        @Override
        public void tellBegun() {
            began(held);
        }

        @Override
        public Optional<Control> await() {
            return Optional.of(held.control());
        }

        @Override
        public Outcome end(Change.Advance transition, Optional<KnownState> known) {
            int takes = held.object() == null ? room() : Math.min(room(), CallPipeline.LONGEST);
            return takes == 0
                    ? commit(CallEnds.taking(transition, takes))
                    : acquisitions.during(() -> end(transition, takes, known));
        }

        private Outcome end(Change.Advance transition, int takes, Optional<KnownState> known) {
            Outcome outcome = commit(CallEnds.taking(transition, takes));
            switch (outcome) {
                case Outcome.Applied applied -> handed(applied.handed(), known, applied.next());
                case Outcome.AlreadyThere there -> forgot();
                default -> {}
            }
            return outcome;
        }

        @Override
        public void left() {}
    }

    /** How many runs that waited for one of this worker's to end it would go on with itself. */
    int room() {
        return home.room(this);
    }

    /**
     * Runs that the worker was handed in a transition. None of them has run before.
     *
     * @param known what the run that ended knew of the virtual object that it held, if it did
     */
    void handed(List<Claimed> runs, Optional<KnownState> known) {
        handed(runs, known, List.of());
    }

    private void handed(List<Claimed> runs, Optional<KnownState> known, List<Claimed> next) {
        for (Claimed claim : runs) {
            registry.find(claim.definition())
                    .ifPresent(definition -> launch(HeldRun.of(claim, definition, known), journalOf(claim), next));
        }
    }

    /** Who begins has no journal; except that a cancel lets a run begin before those have ended that it comes after. */
    private static Journals.Page journalOf(Claimed handed) {
        return handed.control().cancel() == null ? Journals.Page.EMPTY : Journals.Page.UNREAD;
    }

    /** The answer to an end was lost, and with it which runs were handed over. */
    void forgot() {
        home.forgot();
    }

    /** A run is carried on here. */
    void began(HeldRun held) {
        String definition = held.definition().target().name();
        listeners.tell(new RunChange(held.run().id(), definition, RunState.RUNNING, Optional.empty()));
    }

    // ---- calls of virtual objects

    /** Where the calls are that come after the one that is about to be started, if nobody else is about to start one. */
    Optional<CallPipeline> expectTrain(ObjectKey object) {
        CallPipeline train = new CallPipeline(this, object, false);
        return trains.putIfAbsent(object, train) == null ? Optional.of(train) : Optional.empty();
    }

    /** Carries a call that somebody waits for along with others of the same object, if it can. */
    Ride carry(LocalCaller passenger, ObjectKey object) {
        CallPipeline train = trains.get(object);
        boolean boards = train != null && !wantingMore.contains(passenger.run().definition());
        return train != null && boards ? train.carry(passenger) : new Ride.LeftBehind();
    }

    /** A call of this object is about to be started, by itself. */
    void expect(ObjectKey object, RunId call) {
        CallPipeline train = trains.get(object);
        if (train != null) {
            train.expect(call);
        }
    }

    /** Such a call was started or was not; it waits for the object in the store, or does not. */
    void met(ObjectKey object, RunId call, boolean waits) {
        CallPipeline train = trains.get(object);
        if (train != null) {
            train.met(call, waits);
        }
    }

    void forget(CallPipeline train) {
        trains.remove(train.object(), train);
    }

    /** Calls of this handler are not let board any more. */
    void wantsMore(Registered handler) {
        wantingMore.add(handler.target().name());
    }

    Registered definition(String name) {
        return registry.find(name).orElseThrow();
    }

    /** A key for a run that has none in the store yet; no run has it there. */
    long provisionalKey() {
        return provisionalKeys.decrementAndGet();
    }

    // ---- what executions need

    @Override
    public Rules rules() {
        return settings.rules();
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
    public Duration lease() {
        return lease;
    }

    @Override
    public Outcome commit(Change.Advance transition) {
        return untilReached(() -> whatOf(transition.run()), () -> committer.commit(transition));
    }

    private static String whatOf(RunRef run) {
        return "A request of run '%s'".formatted(run.id());
    }

    @Override
    public void waits(RunRef run, StoreException trouble) {
        refusals.noticed(whatOf(run), trouble);
    }

    @Override
    public Journals.Page read(RunRef run, int afterPosition) {
        return settings.store().journals().read(run, afterPosition, PAGE_BYTES);
    }

    @Override
    public List<Mailboxes.Arrived> unread(RunRef run, long afterNumber) {
        return settings.store().mailboxes().unread(run, afterNumber, PAGE_BYTES);
    }

    @Override
    public Optional<Payload> state(ObjectKey object, String name) {
        return settings.store().states().read(object, name);
    }

    @Override
    public SortedMap<String, Payload> state(ObjectKey object) {
        return stateReads.read(object);
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
    public CallTarget callee(Dag<?, ?> graph) {
        return graphs.of(graph).calleeOfRun();
    }

    @Override
    public int emit(String event, String key, Payload payload, UUID token) {
        return untilReached(
                () -> "An event",
                () -> MailSender.reached(committer.commitAll(
                        MailSender.emission(settings.store().mailboxes(), event, key, payload, token))));
    }

    @Override
    public Tokens tokens() {
        return tokens;
    }

    @Override
    public boolean answer(String token, Function<Channel, Mail> mail) {
        return untilReached(
                () -> "The answer to an awakeable",
                () -> settings.store().mailboxes().awakeable(Tokens.hash(token)).stream()
                        .map(address -> MailSender.answer(address, mail.apply(Channel.answer(address.position()))))
                        .anyMatch(delivery -> MailSender.reached(List.of(committer.commit(delivery))) > 0));
    }

    @Override
    public List<Runs.TaskRow> tasks(RunRef run) {
        return untilReached(() -> whatOf(run), () -> settings.store().runs().tasks(run));
    }

    @Override
    public void cancel(Collection<RunId> runs, String reason) {
        List<Change> cancels = runs.stream()
                .<Change>map(run -> new Change.Command(run, Change.Order.CANCEL, reason))
                .toList();
        untilReached(() -> "The cancel of a graph's tasks", () -> committer.commitAll(cancels));
    }

    /**
     * Asks the store until it answers, whatever the trouble is: that is never a failure of a run. When the lease has ended the
     * run leaves memory.
     *
     * @param what is asked, at the beginning of a sentence
     */
    <T> T untilReached(Supplier<String> what, Supplier<T> question) {
        @Nullable Backoff backoff = null;
        while (true) {
            try {
                return question.get();
            } catch (StoreException trouble) {
                refusals.noticed(what.get(), trouble);
            }
            if (!alive()) {
                throw new Unwind("the worker has lost its lease");
            }
            backoff = backoff == null ? new Backoff(settings.clockwork()) : backoff;
            backoff.pause();
        }
    }

    Map<RunRef, Journals.Page> readFirst(List<RunRef> runs) {
        return runs.isEmpty() ? Map.of() : settings.store().journals().readFirst(runs, PAGE_BYTES);
    }

    @Override
    public void pause(RunRef run, String definition, String reason) {
        Change.Command pause = new Change.Command(run.id(), Change.Order.PAUSE, reason);
        Outcome outcome = untilReached(() -> whatOf(run), () -> committer.commit(pause));
        if (outcome instanceof Outcome.Commanded commanded && commanded.changed()) {
            listeners.tell(new RunChange(run.id(), definition, RunState.PAUSED, Optional.of(reason)));
        }
    }

    @Override
    public void keep(Execution execution) {
        kept.add(execution);
        if (isOver()) {
            execution.lose();
        }
    }

    @Override
    public void left(Execution execution, Departure departure) {
        executions.remove(execution.ref().key(), execution);
        switch (departure) {
            case Departure.Ended ended -> {
                board.announce(
                        execution.ref(),
                        new Runs.Ended(execution.ref(), ended.state(), ended.outcome(), ended.reason()));
                tell(
                        execution,
                        ended.state(),
                        ended.reason().isEmpty() ? Optional.empty() : Optional.of(ended.reason()));
            }
            case Departure.Moved moved -> {
                board.hint(execution.ref().id());
                tell(execution, moved.state(), moved.reason());
            }
            case Departure.Lost() -> board.hint(execution.ref().id());
        }
        home.left();
    }

    /** Tells the listeners of something that the store did by itself. */
    void tell(RunChange change) {
        listeners.tell(change);
    }

    private void tell(Execution execution, RunState state, Optional<String> reason) {
        listeners.tell(new RunChange(execution.ref().id(), execution.definition(), state, reason));
    }
}
