package dev.perdure.internal.execution.child;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.ChildOptions.Sticky;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Settled;
import dev.perdure.StartOptions;
import dev.perdure.attribute.Description;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RecordedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.execution.future.EngineFuture;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.mail.RunMail;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedMail;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Setting;
import dev.perdure.spi.change.Setting.Source;
import dev.perdure.spi.change.StartedFor;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.shard.Partitions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The runs that a run starts. The start is written with the parent's next transition. So if the parent's process is
 * killed at any point, the child is either recorded and started, or neither. The child's id and seed are derived from
 * the parent's, so that a start that is sent twice is one start.
 */
public final class Children {
    /**
     * Separates a child's id, which has no control characters, from the fingerprint of its input. Older journals have
     * only the id.
     */
    private static final char AFTER_ID = '\n';

    /**
     * On whose behalf a run is started.
     *
     * @param kind what it is for that run
     * @param run the settings of that run; read only if a run is really started
     * @param chosen the settings that its own start names
     */
    public record Behalf(StartedFor kind, Supplier<NewRun> run, Set<Setting> chosen) {}

    /**
     * How a run is started.
     *
     * @param options its options
     * @param sticky whether it runs on the worker of this run
     * @param behalf on whose behalf
     */
    private record Start(StartOptions options, Sticky sticky, Behalf behalf) {
        /** Whether it is a child, whose outcome this run gets. */
        boolean answers() {
            return behalf.kind() != StartedFor.SPAWN;
        }
    }

    /**
     * The input of a run.
     *
     * @param payload the input, or the reference to it
     * @param fingerprint makes its fingerprint
     */
    private record Input(Payload payload, Supplier<String> fingerprint) {}

    private final HeldRun held;
    private final Host host;
    private final ContextCalls calls;
    private final Transitions transitions;
    private final Futures futures;
    private final RunMail runMail;
    private final Values values;
    private final Derived derived;

    public Children(
            HeldRun held,
            Host host,
            ContextCalls calls,
            Transitions transitions,
            Futures futures,
            RunMail runMail,
            Values values,
            Derived derived) {
        this.held = held;
        this.host = host;
        this.calls = calls;
        this.transitions = transitions;
        this.futures = futures;
        this.runMail = runMail;
        this.values = values;
        this.derived = derived;
    }

    /**
     * Starts a child.
     *
     * @param what the call of the context, as messages name it
     */
    public <T extends @Nullable Object> Child<T> start(
            String what, CallTarget callee, @Nullable Object input, ChildOptions options) {
        return start(what, callee, input, options, self(StartedFor.CHILD));
    }

    /** What a child or a spawned run inherits: of the run that starts it, what that run knows of itself. */
    private Behalf self(StartedFor kind) {
        return new Behalf(
                kind,
                () -> new NewRun(
                                held.run().id(),
                                "",
                                Payload.EMPTY,
                                0,
                                held.origin().queue(),
                                0,
                                null,
                                null)
                        .describedAs(Description.NONE.withHeaders(held.origin().headers())),
                Set.of(Setting.VERSION));
    }

    /**
     * Starts a child on behalf of this run or of another one.
     *
     * @param what the call of the context, as messages name it
     */
    public <T extends @Nullable Object> Child<T> start(
            String what, CallTarget callee, @Nullable Object input, ChildOptions options, Behalf behalf) {
        Target target = callee.target();
        if (options == null) {
            throw new InvalidRequestException(
                    "The options of child '%s' are null. Give ChildOptions.defaults(), or leave them out."
                            .formatted(target.name()));
        }
        callee.require(options.start());
        Payload payload = inputs().input(callee, input);
        ContextCall call = calls.open(what, Entry.Kind.CHILD, callee.name());
        Replay.Past past = calls.rethrowDelivered(call);
        Input encoded = new Input(payload, () -> fingerprint(payload, callee, input));
        requireSameInput(call, past, callee, encoded, input);
        RunId id = begin(call, past, callee, encoded, new Start(options.start(), options.sticky(), behalf));
        ChildFuture<T> child = new ChildFuture<>(
                futures, call, past, runMail, entry -> read(call, entry, id, target), id, options.onCancel());
        futures.add(child);
        return child;
    }

    /**
     * Starts a run that is independent of this one.
     *
     * @param what the call of the context, as messages name it
     */
    public RunId spawn(String what, CallTarget callee, @Nullable Object input, StartOptions options) {
        callee.require(options);
        if (!options.messages().isEmpty()) {
            throw new InvalidRequestException(
                    "%s was called with messages, but a run that another run starts begins with an empty mailbox. Send them with send(…) to the id that %s returns."
                            .formatted(what, what));
        }
        Payload payload = inputs().input(callee, input);
        ContextCall call = calls.open(what, Entry.Kind.CHILD, callee.name());
        Replay.Past past = calls.rethrowDelivered(call);
        Input encoded = new Input(payload, () -> fingerprint(payload, callee, input));
        requireSameInput(call, past, callee, encoded, input);
        return begin(call, past, callee, encoded, new Start(options, Sticky.NONE, self(StartedFor.SPAWN)));
    }

    /**
     * The child was started with the input of that execution. If the codec never returns the same bytes twice, there is
     * nothing to compare.
     */
    private void requireSameInput(
            ContextCall call, Replay.Past past, CallTarget callee, Input encoded, @Nullable Object input) {
        if (past.notes().isEmpty()
                || !host.knowsTokens() // A token may be part of the input, and of a fork its own id.
                || calls.isCopied(past.notes().getFirst())) {
            return;
        }
        String written = text(past.notes().getFirst().entry().payload());
        int end = written.indexOf(AFTER_ID);
        String asked = encoded.fingerprint().get();
        if (end >= 0
                && !written.substring(end + 1).equals(asked)
                && fingerprint(inputs().input(callee, input), callee, input).equals(asked)) {
            throw calls.differs(call, call.describe() + " with another input", call.describe());
        }
    }

    /** An input is encoded before the id of the child is known; until then it is a value of this run. */
    private Values inputs() {
        return values.at(PayloadPlace.input(values.run()));
    }

    /** The fingerprint of an input. A large one is encoded once more, because its payload is only a reference. */
    private String fingerprint(Payload payload, CallTarget callee, @Nullable Object input) {
        if (!PayloadReference.is(payload)) {
            return Fingerprint.of(payload);
        }
        Fingerprint fingerprint = new Fingerprint();
        inputs().write(callee, input, fingerprint);
        return fingerprint.text();
    }

    private RunId begin(ContextCall call, Replay.Past past, CallTarget callee, Input input, Start start) {
        StartOptions options = start.options();
        if (!past.notes().isEmpty()) {
            return past.notes().getFirst().entry().started().orElseThrow();
        }
        transitions.deliverTo(call);
        NewRun other = start.behalf().run().get();
        Optional<String> key = Setting.KEY.of(start.behalf().kind()) == Source.INHERITED
                ? Optional.ofNullable(other.queueKey())
                : options.key();
        RunId id = callee.id(options, host.store()::prefix)
                .orElseGet(() -> childId(call.position(), callee.object(options), key));
        NewRun run = new NewRun(
                        id,
                        callee.target().name(),
                        inputs().moved(input.payload(), PayloadPlace.input(id)),
                        derived.seed(call.position()),
                        options.queue(),
                        options.priority(),
                        options.version().or(() -> inherited(callee, start)).orElse(null),
                        timeout(options),
                        options.delay().orElse(null),
                        start.answers() ? new Parent(held.run(), call.position(), true) : null,
                        callee.object(options),
                        values.attributes().encrypted(id, options.description()),
                        options.key().orElse(null),
                        new Admission(options.startWithin().orElse(null), options.weight()).at(placement(id, start)))
                .startedFor(start.behalf().kind(), other, start.behalf().chosen());
        return begin(call, callee, input, intercepted(run));
    }

    private RunId begin(ContextCall call, CallTarget callee, Input input, NewRun run) {
        RunId id = run.id();
        String begun = id.value() + AFTER_ID + input.fingerprint().get();
        Payload written = new Payload(begun.getBytes(StandardCharsets.UTF_8));
        transitions.defer(call.note(1, Entry.Status.BEGUN, written), new Effect.Start(run, callee.tasks(run)));
        return id;
    }

    /** A run that this run starts, with the headers that interceptors give it. */
    public NewRun intercepted(NewRun run) {
        try {
            return host.rules().interceptors().start(run, Optional.of(held.run().id()));
        } catch (RuntimeException | Error thrown) {
            throw transitions.stop(
                    "An interceptor threw %s when run '%s' started run '%s'. Fix the interceptor, deploy that, then resume the run."
                            .formatted(thrown, held.run().id(), run.id()));
        }
    }

    /**
     * A pinned run and its pinned children are of one version, so that they agree on inputs and results. A run that is
     * not a child is pinned by the worker that begins it.
     */
    private Optional<String> inherited(CallTarget callee, Start start) {
        return start.answers() && held.definition().pinned()
                ? Optional.ofNullable(host.version().pin(callee.target().name(), null))
                : Optional.empty();
    }

    /**
     * A sticky child belongs to the worker that commits its start: if this one dies before, the next one starts it. If the
     * child is on another shard, it belongs to the worker of that shard in the same process.
     */
    private Placement placement(RunId id, Start child) {
        Placement chosen = child.options().placement();
        return switch (child.sticky()) {
            case NONE -> chosen;
            case SOFT -> chosen.preferring(workerOf(id));
            case HARD -> chosen.requiring(workerOf(id));
        };
    }

    private Requirement workerOf(RunId id) {
        return Requirement.worker(host.worker(id).value().toString());
    }

    /** Includes the seed, because the same position occurs again when a run begins anew. */
    private RunId childId(int position, @Nullable ObjectCall object, Optional<String> key) {
        String unique = derived.uuid("child", position).toString();
        String readable = held.run().id() + "/" + position + "-" + unique.substring(0, 8) + unique.substring(9, 13);
        String prefix = object == null
                ? key.filter(ofChild -> !leadsTo(ofChild, readable))
                        .map(host.store()::prefix)
                        .orElse("")
                : host.store().prefix(object.object());
        return RunId.of(prefix + (prefix.length() + readable.length() <= RunId.MAX_LENGTH ? readable : unique));
    }

    /** Whether the runs of a key are beside this run, so that its child needs no other id than any. */
    private boolean leadsTo(String key, String readable) {
        return readable.length() <= RunId.MAX_LENGTH && Partitions.of(RunId.of(readable)) == Partitions.ofQueueKey(key);
    }

    /**
     * The child's own timeout or the rest of the parent's, whichever ends first. A deadline that was delivered no
     * longer counts.
     */
    private @Nullable Duration timeout(StartOptions options) {
        Instant deadline = transitions.deadline().open();
        Duration own = options.timeout().orElse(null);
        if (deadline == null) {
            return own;
        }
        Duration left = Duration.between(host.clock().now(), deadline);
        Duration inherited = left.isPositive() ? left : Duration.ofMillis(1);
        return own == null || inherited.compareTo(own) < 0 ? inherited : own;
    }

    private static String text(Payload payload) {
        return new String(payload.bytes(), StandardCharsets.UTF_8);
    }

    private <T extends @Nullable Object> Settled<T> read(ContextCall call, Entry entry, RunId id, Target target) {
        if (entry.status() == Entry.Status.VALUE) {
            return runMail.value(call, entry, target.resultType());
        }
        FailedMail failed = runMail.failed(call, entry);
        RecordedException cause =
                failed.failure() == null ? null : failed.failure().toException();
        Optional<RunState> state = Arrays.stream(RunState.values())
                .filter(possible -> failed.text().startsWith(possible + ": "))
                .findFirst();
        return EngineFuture.failure(
                state.isEmpty()
                        ? new RunConflictException(failed.text() + " Choose another id for the child.")
                        : new RunFailedException(
                                id, state.get(), "Child '%s' is %s".formatted(id, failed.text()), cause));
    }
}
