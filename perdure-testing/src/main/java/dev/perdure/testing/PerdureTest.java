package dev.perdure.testing;

import dev.perdure.History;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.RunFilter;
import dev.perdure.RunListener;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.dag.DagRun;
import dev.perdure.error.ClosedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.engine.Engine;
import dev.perdure.internal.engine.HistoryChecks;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.json.CopyingCodec;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.payload.PayloadSweep;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.settings.Settings;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Reaction;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Store;
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.payload.PayloadStore;
import dev.perdure.spi.payload.PayloadTransform;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An engine for tests, with an in-memory store, virtual time, and crashes on demand. It is a {@link Perdure}, so a test
 * reads like production code:
 *
 * <pre>{@code
 * @Test
 * void ships_a_day_after_payment(PerdureTest perdure) {
 *     perdure.register(new Orders(payments, shipping));
 *     var run = perdure.start(Orders::process, order);
 *     perdure.advance(Duration.ofHours(24));
 *     assertThat(run.result().tracking()).isEqualTo("TRACK-1");
 * }
 * }</pre>
 *
 * <p>Time moves only inside {@link #advance} and while the test waits for a result, and only when nothing can run. Step
 * bodies run in real time. Handles survive {@link #crash()} and {@link #restart()}.
 */
public final class PerdureTest extends ForwardingPerdure {
    private static final Operator OPERATOR = Operator.named("test");
    private static final long SEED = 42;
    /** One for all tests of a JVM: a codec learns each type once, and that takes longer than most tests. */
    private static final Codec JSON = new JsonCodec();

    private final VirtualClockwork clockwork = new VirtualClockwork(SEED);
    private final Store store;
    private final TestMode mode;
    private final List<Object> workflows = new ArrayList<>();
    private final List<Queue> queues = new ArrayList<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private final List<Limiter> limiters = new ArrayList<>();
    private Retention retention = Retention.of(Retention.FOREVER);
    private final List<RunChange> changes = new CopyOnWriteArrayList<>();
    private final List<RunListener> listeners = new ArrayList<>(List.of(changes::add));
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private final Faults.Plan faults = new Faults.Plan();
    private final List<Interceptor> interceptors = new ArrayList<>();
    private RetryPolicy retry = RetryPolicy.standard();
    private Codec codec = JSON;
    private @Nullable PayloadTransform transform;
    private int maxRuns = 1_000;
    private int maxPayloadBytes = 4 * 1024 * 1024;
    private @Nullable String version;
    private int maxInlineBytes = 1024 * 1024;
    private PayloadStore payloadStore;
    private final ReentrantLock starting = new ReentrantLock();
    private @Nullable Engine client;
    private String startedBy = "";
    private volatile boolean closing;

    private PerdureTest(TestMode mode, Function<Clockwork, Store> stores) {
        this.mode = mode;
        this.store = stores.apply(clockwork);
        this.payloadStore = store.payloads();
        clockwork.situation(this::situation);
    }

    /** A worker with the store as it sees it. */
    private record Member(Faults store, WorkerKind kind, Engine engine) {}

    /** What a worker that is killed is replaced by: the same code in the same version, with the same labels. */
    private record WorkerKind(@Nullable String version, List<Object> workflows, Map<String, String> labels) {}

    /** A test engine on the in-memory store, in {@link TestMode#NORMAL}. */
    public static PerdureTest create() {
        return create(TestMode.NORMAL);
    }

    /** A test engine on the in-memory store, in this mode. */
    public static PerdureTest create(TestMode mode) {
        return on(MemoryStore::new, mode);
    }

    /** A test engine on any store that takes its time from the given clockwork. */
    public static PerdureTest on(Function<Clockwork, Store> store, TestMode mode) {
        return new PerdureTest(mode, store);
    }

    // ---- set-up, before the first start

    /** Registers workflows. */
    public PerdureTest register(Object... registrations) {
        requireNotStarted();
        workflows.addAll(List.of(registrations));
        return this;
    }

    /** Declares queues with their limits. The workers take runs from them, and from the default queue. */
    public PerdureTest queues(Queue... declared) {
        requireNotStarted();
        queues.addAll(List.of(declared));
        return this;
    }

    /** Declares schedules, which the workers fire in virtual time. */
    public PerdureTest schedules(Schedule... declared) {
        requireNotStarted();
        schedules.addAll(List.of(declared));
        return this;
    }

    /**
     * Declares how long runs are kept after their end; for ever by default. {@link #removeOldRuns()} removes those that
     * are due.
     */
    public PerdureTest retention(Retention declared) {
        requireNotStarted();
        retention = declared;
        return this;
    }

    /** Declares reactions, which start workflows when something happens to a run. */
    public PerdureTest reactions(Reaction... declared) {
        return register((Object[]) declared);
    }

    /** Declares limiters of steps. */
    public PerdureTest limiters(Limiter... declared) {
        requireNotStarted();
        limiters.addAll(List.of(declared));
        return this;
    }

    /** Calls this listener after every change of state that an engine commits. */
    public PerdureTest listener(RunListener listener) {
        requireNotStarted();
        listeners.add(listener);
        return this;
    }

    /** The retry policy of steps that set none of their own. */
    public PerdureTest retry(RetryPolicy policy) {
        requireNotStarted();
        retry = policy;
        return this;
    }

    /** Puts this code around starts, workflows and steps, inside of the interceptors that were given before. */
    public PerdureTest interceptor(Interceptor interceptor) {
        requireNotStarted();
        interceptors.add(interceptor);
        return this;
    }

    /** The number of runs that one worker holds in memory at most. */
    public PerdureTest maxRuns(int count) {
        requireNotStarted();
        maxRuns = count;
        return this;
    }

    /** Turns values into bytes and back; JSON by default. */
    public PerdureTest codec(Codec values) {
        requireNotStarted();
        codec = new CopyingCodec(values);
        return this;
    }

    /** Transforms the bytes of values, such as {@link dev.perdure.payload.Encryption}; none by default. */
    public PerdureTest transform(PayloadTransform value) {
        requireNotStarted();
        transform = value;
        return this;
    }

    /** The size of an encoded value at most. */
    public PerdureTest maxPayloadBytes(int bytes) {
        requireNotStarted();
        maxPayloadBytes = bytes;
        return this;
    }

    /**
     * The version of the workers that start from now on, also of those that {@link #deploy} and {@link #startWorker()}
     * start. None by default: then no run is pinned.
     */
    public PerdureTest version(String tag) {
        version = tag;
        return this;
    }

    /** The size of an encoded value that is stored in the journal itself, at most. A larger one goes to the payload store. */
    public PerdureTest maxInlineBytes(int bytes) {
        requireNotStarted();
        maxInlineBytes = bytes;
        return this;
    }

    /**
     * Where large values are kept; beside the runs by default.
     *
     * @param chosen gets that default, and returns the payload store to use, such as one that fails on demand
     */
    public PerdureTest payloadStore(UnaryOperator<PayloadStore> chosen) {
        requireNotStarted();
        payloadStore = chosen.apply(payloadStore);
        return this;
    }

    private void requireNotStarted() {
        if (client != null) {
            throw new IllegalStateException(
                    "The engine was started by %s. Set it up before the first call that needs it."
                            .formatted(startedBy));
        }
    }

    // ---- the engines

    @Override
    Perdure engine() {
        ensureStarted();
        return members.stream().findFirst().map(Member::engine).orElseGet(this::ensureStarted);
    }

    /** An engine without a worker: it starts, awaits and cancels runs, but runs none itself. */
    public Perdure client() {
        return ensureStarted();
    }

    @Override
    boolean enterCall() {
        return clockwork.enterCall();
    }

    @Override
    void leaveCall(boolean outermost) {
        clockwork.leaveCall(outermost);
    }

    /** The first call of several threads starts the engine, and the others wait for it. */
    private Engine ensureStarted() {
        starting.lock();
        try {
            return started();
        } finally {
            starting.unlock();
        }
    }

    private Engine started() {
        Engine present = client;
        if (present == null) {
            present = Engine.start(settings(store, workflows, null));
            client = present;
            startedBy = TestCall.present().toString();
            int workers = mode == TestMode.THREE_WORKERS ? 3 : 1;
            for (int i = 0; i < workers; i++) {
                startWorker();
            }
        }
        return present;
    }

    @Override
    <R extends @Nullable Object> Run<R> lasting(Run<R> run) {
        return ensureStarted().adopt(run);
    }

    @Override
    <O extends @Nullable Object> DagRun<O> lasting(DagRun<O> run) {
        return ensureStarted().adopt(run);
    }

    private Settings settings(Store seen, List<Object> registered, Settings.@Nullable WorkerRules worker) {
        Duration warmWindow = mode == TestMode.SUSPEND_AT_EVERY_WAIT ? Duration.ZERO : Duration.ofSeconds(1);
        ExecutionRules rules = new ExecutionRules(
                PayloadCodec.of(codec, payloadStore, maxInlineBytes, clockwork).transforming(transform),
                new StepTypes(codec),
                retry,
                warmWindow,
                maxPayloadBytes,
                Interceptors.of(interceptors),
                Measurements.NONE,
                mode == TestMode.REPLAY_AFTER_EVERY_STEP);
        return new Settings(
                seen,
                clockwork,
                registered,
                List.copyOf(listeners),
                rules,
                List.copyOf(queues),
                List.copyOf(schedules),
                List.copyOf(limiters),
                retention,
                OPERATOR,
                worker);
    }

    /**
     * Replays exported runs on the registered workflows. No step body runs, and nothing is written: a call that the
     * history does not answer ends the replay, and the run then counts as compatible. If the run had ended and the code
     * ends too, compares its outcome. Use it in a test before a deploy:
     *
     * <pre>{@code
     * perdure.register(new Orders(payments, shipping));
     * perdure.check(History.read(Path.of("histories.jsonl")));
     * }</pre>
     *
     * @throws HistoryMismatchError if the code does not fit one of them
     * @throws InvalidRequestException if there are none, or one cannot be read
     */
    public void check(List<History> histories) {
        if (histories.isEmpty()) {
            throw new InvalidRequestException(
                    "There are no histories to check. Export some with './perdure runs export'.");
        }
        List<String> differences =
                HistoryChecks.of(settings(store, workflows, null)).differences(histories);
        if (!differences.isEmpty()) {
            throw new HistoryMismatchError(differences, histories.size());
        }
    }

    /**
     * Removes the runs whose retention is over at the present virtual time, and large values to which nothing has referred
     * for an hour: call it once when nothing refers to them, and again an hour later. Workers do so too, but not at
     * once.
     */
    public void removeOldRuns() {
        ensureStarted();
        Removals removals = store.removals();
        RetentionInfo before = removals.info();
        // A change lets a pass begin, also if the next is not due yet. The first one keeps no fewer runs than before.
        removals.change(before.effective().keep(Retention.runs().definition("none"), Retention.FOREVER));
        removals.change(before.changed().orElse(null));
        do {
            Removals.Removed unused = removals.remove(1_000);
        } while (removals.info().nextPass().isEmpty()); // A worker of the test may have the turn.
        new PayloadSweep(payloadStore, store.payloads()).pass(() -> false);
    }

    /** Starts one more worker. */
    public void startWorker() {
        startWorker(Map.of());
    }

    /** Starts one more worker, with these labels. */
    public void startWorker(Map<String, String> labels) {
        startWorker(new WorkerKind(version, List.copyOf(workflows), labels));
    }

    private void startWorker(WorkerKind kind) {
        ensureStarted();
        CompletableFuture<Member> self = new CompletableFuture<>();
        Faults seen = new Faults(store, faults, mode != TestMode.WITHOUT_HINTS, () -> {
            kill(self.join());
            startWorker(kind);
        });
        Set<String> from = new HashSet<>(Set.of(StartOptions.DEFAULT_QUEUE));
        queues.forEach(queue -> from.add(queue.name()));
        Settings.WorkerRules rules = new Settings.WorkerRules(
                Set.copyOf(from),
                kind.version(),
                Duration.ofSeconds(10),
                maxRuns,
                Duration.ofSeconds(10),
                kind.labels(),
                () -> {});
        Member member = new Member(seen, kind, Engine.start(settings(seen, kind.workflows(), rules)));
        members.add(member);
        self.complete(member);
        if (closing) { // do not replace a worker that dies while the test closes
            member.engine().close();
        }
    }

    private void kill(Member member) {
        members.remove(member);
        member.engine().crash();
        member.store().expire();
    }

    // ---- faults

    /** Kills the worker like {@code kill -9} and starts another. The lease of the killed worker ends at once. */
    public void crash() {
        ensureStarted();
        Member first = members.getFirst();
        kill(first);
        startWorker(first.kind());
    }

    /** Kills all workers and starts none. */
    public void crashAll() {
        ensureStarted();
        List.copyOf(members).forEach(this::kill);
    }

    /** Closes the worker in an orderly way and starts another. */
    public void restart() {
        ensureStarted();
        Member old = members.removeFirst();
        old.engine().close();
        startWorker();
    }

    /** Replaces the code like a deploy: closes all workers and starts one with these workflows instead. */
    public void deploy(Object... newWorkflows) {
        ensureStarted();
        closeWorkers();
        workflows.clear();
        workflows.addAll(List.of(newWorkflows));
        startWorker();
    }

    /**
     * Begins a deploy that replaces workers one by one: starts a worker with these workflows beside the others. They are
     * the code of workers that are started from now on, too. Runs are still started through the first worker that is
     * alive. Set {@link #version(String)} before to give the new code another version.
     */
    public void deployBeside(Object... newWorkflows) {
        ensureStarted();
        workflows.clear();
        workflows.addAll(List.of(newWorkflows));
        startWorker();
    }

    /**
     * Replaces the declared schedules like a deploy: closes all workers and starts one that declares these instead, unless
     * none is alive. Workers that are started from now on declare these, too.
     */
    public void redeclare(Schedule... declared) {
        setDeclared(declared);
        if (!members.isEmpty()) {
            closeWorkers();
            startWorker();
        }
    }

    /** Begins a deploy that changes the declared schedules: starts a worker that declares these beside the others. */
    public void redeclareBeside(Schedule... declared) {
        setDeclared(declared);
        startWorker();
    }

    private void setDeclared(Schedule... declared) {
        ensureStarted();
        schedules.clear();
        schedules.addAll(List.of(declared));
    }

    private void closeWorkers() {
        List.copyOf(members).forEach(member -> {
            members.remove(member);
            member.engine().close();
        });
    }

    /**
     * Kills the worker that commits the next transition of a run, just before the commit. Another worker takes over.
     */
    public void crashBeforeNextCommit() {
        crashBeforeCommit(0);
    }

    /** Kills the worker that commits the next transition of a run, just after the commit. Another worker takes over. */
    public void crashAfterNextCommit() {
        crashAfterCommit(0);
    }

    /** Like {@link #crashBeforeNextCommit()}, but lets this many transitions commit first. */
    public void crashBeforeCommit(int after) {
        faults.after(after, Faults.Fault.CRASH_BEFORE);
    }

    /** Like {@link #crashAfterNextCommit()}, but lets this many transitions commit first. */
    public void crashAfterCommit(int after) {
        faults.after(after, Faults.Fault.CRASH_AFTER);
    }

    /** Commits the next transition of a run, but loses the answer to its worker. */
    public void loseNextAnswer() {
        faults.after(0, Faults.Fault.LOSE_ANSWER);
    }

    /** Commits the next claim of runs, but loses the answer to the worker. */
    public void loseNextClaim() {
        faults.loseNextClaim();
    }

    // ---- time

    /** Moves time forward, timer by timer, and lets everything run that becomes due on the way. */
    public void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new InvalidRequestException(
                    "Time cannot go back by %s. Advance it by zero or more.".formatted(duration));
        }
        requireOpen();
        ensureStarted();
        clockwork.advance(duration);
    }

    /** Waits until nothing can run any more, without moving time. */
    public void settle() {
        requireOpen();
        ensureStarted();
        clockwork.settle();
    }

    private void requireOpen() {
        if (closing) {
            throw new ClosedException("This PerdureTest is closed. Move time before you close it, or create another.");
        }
    }

    /** The virtual time. */
    public Instant now() {
        return clockwork.now();
    }

    /** The source of time. */
    public VirtualClockwork clockwork() {
        return clockwork;
    }

    /** Every change of state that the engines reported to their listener, in order. */
    public List<RunChange> changes() {
        return List.copyOf(changes);
    }

    private String situation() {
        return "Runs that have not ended: "
                + store.runs().list(RunFilter.all()).stream()
                        .filter(run -> !run.state().isTerminal())
                        .map(run -> "%s (%s) is %s%s"
                                .formatted(
                                        run.id(),
                                        run.definition(),
                                        run.state(),
                                        run.reason()
                                                .map(reason -> " because: " + reason)
                                                .orElse("")))
                        .collect(Collectors.joining("; ", "[", "]"));
    }

    /**
     * Ends all engines.
     *
     * @throws IllegalStateException if an engine thread does not end
     */
    @Override
    public void close() {
        closing = true;
        members.forEach(member -> member.engine().close());
        members.clear();
        if (client != null) {
            client.close();
        }
        if (!clockwork.awaitNoThreads()) {
            throw new IllegalStateException("Engine threads are left behind: " + clockwork.threads());
        }
        store.close();
    }
}
