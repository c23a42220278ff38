package dev.perdure.internal.check;

import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowMethod;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.execution.host.AttemptStacks;
import dev.perdure.internal.execution.host.Departure;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.host.LoadedRun;
import dev.perdure.internal.execution.host.StoreAccess;
import dev.perdure.internal.execution.host.Turn;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.history.ExportedRun;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.internal.time.Waiting;
import dev.perdure.object.ObjectMethod;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A run that is replayed from its history.
 *
 * <p>How it works. The code runs as in a worker, with the journal of the history. Where the journal does not answer a
 * call, the execution leaves memory before it carries anything out. So no body runs, nothing is awaited and nothing is
 * written. What is left is how the run ended, or why it would be paused, or nothing.
 */
final class ReplayedRun implements Host, Turn {
    private static final long EPOCH = 1;

    private final ExportedRun run;
    private final Registered definition;
    private final CallTargets targets;
    private final ExecutionRules rules;
    private final Clockwork clockwork;
    private final AttemptStacks attemptStacks = new AttemptStacks();
    private final StoreClock clock;
    private final Clockwork.Signal over;
    private final boolean knowsTokens;
    private final AtomicReference<@Nullable String> stopped = new AtomicReference<>();
    private final AtomicReference<Move.@Nullable End> end = new AtomicReference<>();

    ReplayedRun(ExportedRun run, Registered definition, CallTargets targets, ExecutionRules rules) {
        this.run = run;
        this.definition = definition;
        this.targets = targets;
        this.rules = rules;
        this.clockwork = new FixedClockwork(new SystemClockwork(), lastTime(run));
        this.clock = new StoreClock(clockwork);
        this.over = clockwork.signal();
        this.knowsTokens =
                run.journal().stream().noneMatch(recorded -> recorded.entry().kind() == Entry.Kind.AWAKEABLE);
    }

    private static Instant lastTime(ExportedRun run) {
        return run.journal().stream()
                .map(Recorded::at)
                .max(Comparator.naturalOrder())
                .filter(last -> last.isAfter(run.end().at()))
                .orElse(run.end().at());
    }

    /** Runs the code, until it ends or the history has no answer. */
    void replay() {
        ObjectCall object = run.basis().object();
        HeldRun held = new HeldRun(
                new RunRef(run.id(), 0),
                EPOCH,
                definition,
                run.basis().input(),
                run.basis().seed(),
                Control.NONE,
                run.basis().deadline(),
                false,
                run.basis().premises(),
                object == null || object.hold() != ObjectCall.Hold.ON_ARRIVAL ? object : object.arrived(),
                null,
                new Origin(StartOptions.DEFAULT_QUEUE, Map.of(), run.createdAt()));
        Execution execution = new Execution(held, new Journals.Page(journal(), true), this, this);
        clockwork.fork("perdure-check-" + run.id(), execution);
        Waiting.forSignal(over);
    }

    /**
     * The journal as far as it can be replayed. The transition that ends a call of a virtual object leaves out what the
     * call read and wrote of the state since its last transition, but not what it did to others.
     */
    private List<Recorded> journal() {
        return run.basis().object() == null || !run.end().state().isTerminal()
                ? run.journal()
                : run.journal().stream()
                        .filter(recorded -> recorded.at().isBefore(run.end().at()))
                        .toList();
    }

    /** Why the run would be paused, if it would. */
    Optional<String> stopped() {
        return Optional.ofNullable(stopped.get());
    }

    /** How the code ended, if the history has all that it asked for. */
    Optional<Move.End> end() {
        return Optional.ofNullable(end.get());
    }

    // ---- the turn

    @Override
    public boolean isAhead() {
        return false;
    }

    @Override
    public boolean isPipelined() {
        return false;
    }

    @Override
    public boolean isDropped() {
        return false;
    }

    @Override
    public void tellBegun() {}

    @Override
    public Optional<Control> await() {
        return Optional.of(Control.NONE);
    }

    @Override
    public Outcome end(Change.Advance transition, Optional<KnownState> known) {
        if (transition.move() instanceof Move.End ended) {
            end.set(ended);
        }
        return new Outcome.Fenced();
    }

    @Override
    public void left() {}

    // ---- the host

    @Override
    public StoreAccess store() {
        return new NoStore(run.tasks(), reason -> stopped.compareAndSet(null, reason));
    }

    @Override
    public ExecutionRules rules() {
        return rules;
    }

    @Override
    public Clockwork clockwork() {
        return clockwork;
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
        return new WorkerId(new UUID(0, 0));
    }

    @Override
    public String workerName() {
        return worker().value().toString();
    }

    @Override
    public WorkerId worker(RunId run) {
        return worker();
    }

    @Override
    public Dispatch.Version version() {
        return Dispatch.Version.of(null);
    }

    @Override
    public Duration lease() {
        return Duration.ZERO;
    }

    @Override
    public boolean alive() {
        return true;
    }

    @Override
    public Registered.Target target(WorkflowMethod method) {
        return targets.registry().target(method);
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
    public ObjectHandler handler(ObjectMethod method) {
        return targets.registry().handler(method);
    }

    @Override
    public Tokens tokens() {
        return new Tokens(new byte[] {0}, false);
    }

    @Override
    public boolean onlyReplays() {
        return true;
    }

    @Override
    public boolean knowsTokens() {
        return knowsTokens;
    }

    @Override
    public void pause(RunRef paused, String name, String reason) {
        stopped.compareAndSet(null, reason);
    }

    @Override
    public void keep(LoadedRun execution) {
        stopped.compareAndSet(
                null,
                "The code of run '%s' catches Throwable or Error around calls on the context and continues. Catch Exception there, or rethrow errors."
                        .formatted(run.id()));
        execution.lose();
    }

    @Override
    public void left(LoadedRun execution, Departure departure) {
        over.raise();
    }
}
