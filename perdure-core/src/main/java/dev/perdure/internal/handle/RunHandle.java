package dev.perdure.internal.handle;

import dev.perdure.ForkOptions;
import dev.perdure.History;
import dev.perdure.HistoryEvent;
import dev.perdure.Promise;
import dev.perdure.Published;
import dev.perdure.Repair;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.ClosedException;
import dev.perdure.error.RecordedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.Commands;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.dag.TypedDag;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.history.HistoryExport;
import dev.perdure.internal.payload.EncryptedAttributes;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.waiter.ProgressWaiters;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.report.StepProgress;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A handle to one run. */
public class RunHandle<R extends @Nullable Object> implements Run<R> {
    private static final int MOST_FORK_TRIES = 8;

    private final RunRef ref;
    private final Type resultType;
    private final Services services;
    private final Settings settings;
    private final Waiters<RunRef, Runs.Ended> results;
    private final Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress;
    private final Commands commands;
    private final MailSender mailSender;
    private final BooleanSupplier closed;

    /** What handles need from their engine. */
    public record Services(
            Settings settings,
            TypedDags dags,
            Waiters<RunRef, Runs.Ended> results,
            Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress,
            Commands commands,
            MailSender mailSender,
            Auditor auditor,
            BooleanSupplier closed) {
        /** The same for another operator. */
        public Services of(Auditor other) {
            return new Services(settings, dags, results, progress, commands.of(other), mailSender, other, closed);
        }
    }

    public RunHandle(RunRef ref, Type resultType, Services services) {
        this.ref = ref;
        this.resultType = resultType;
        this.services = services;
        this.settings = services.settings();
        this.results = services.results();
        this.progress = services.progress();
        this.commands = services.commands();
        this.mailSender = services.mailSender();
        this.closed = services.closed();
    }

    public final RunRef ref() {
        return ref;
    }

    public final Type resultType() {
        return resultType;
    }

    @Override
    public RunId id() {
        return ref.id();
    }

    @Override
    public RunState state() {
        return info().state();
    }

    @Override
    public RunInfo info() {
        return new EncryptedAttributes(settings.rules().codec())
                .decrypted(settings.store()
                        .runs()
                        .find(ref.id())
                        .orElseThrow(() -> removed(ref.id()))
                        .info());
    }

    @Override
    public R result() {
        return await(Clockwork.NEVER);
    }

    @Override
    public R result(Duration timeout) {
        Texts.requireGiven("timeout", timeout);
        return await(WaitLimit.nanos(timeout));
    }

    private R await(long nanos) {
        boolean closedBefore = closed.getAsBoolean();
        try {
            Runs.Ended ended = results.await(ref, nanos);
            if (ended != null) {
                return valueOf(ended);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new ResultUnavailableException(
                    "The wait for run '%s' was interrupted. The run continues; wait again for its result."
                            .formatted(ref.id()));
        }
        if (closed.getAsBoolean()) {
            throw new ClosedException((closedBefore
                            ? "The engine is closed, so it cannot wait for run '%s'. Wait through an engine that is open."
                            : "The engine was closed while a caller waited for run '%s'. The run continues on another worker.")
                    .formatted(ref.id()));
        }
        List<Runs.Ended> endedMeanwhile = settings.store().runs().ended(List.of(ref));
        if (!endedMeanwhile.isEmpty()) {
            return valueOf(endedMeanwhile.getFirst());
        }
        throw new ResultUnavailableException("Run '%s' has not ended after %s; %s"
                .formatted(
                        ref.id(),
                        Duration.ofNanos(nanos),
                        Unfinished.describe(settings.store().runs(), ref.id())));
    }

    @Override
    public Optional<R> resultNow() {
        List<Runs.Ended> ended = settings.store().runs().ended(List.of(ref));
        return ended.isEmpty() ? Optional.empty() : Optional.ofNullable(valueOf(ended.getFirst()));
    }

    /** The exception for a run that was there and is not any more. */
    static UnknownRunException removed(RunId run) {
        return new UnknownRunException(
                "Run '%s' no longer exists: it has ended, and its retention is over. Keep such runs for longer if you need their results later."
                        .formatted(run));
    }

    /** The outcome. */
    final R valueOf(Runs.Ended ended) {
        if (ended.removed()) {
            throw removed(ref.id());
        }
        if (ended.state() == RunState.COMPLETED) {
            return decoded(ended.outcome());
        }
        throw failure(ended);
    }

    /** The result. */
    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type this handle was made for
    R decoded(Payload outcome) {
        return (R) Values.read(
                settings.rules().codec().at(PayloadPlace.result(ref.id())),
                outcome,
                resultType,
                () -> "The result of run '%s' of '%s'".formatted(ref.id(), info().definition()));
    }

    /** The exception to throw if there is no result. */
    RunFailedException failure(Runs.Ended ended) {
        Codec codec = settings.rules().codec().at(PayloadPlace.result(ref.id()));
        RecordedException cause = null;
        if (ended.outcome().size() > 0 && codec.decode(ended.outcome(), Failure.class) instanceof Failure failure) {
            cause = failure.toException();
        }
        return new RunFailedException(
                ref.id(),
                ended.state(),
                "Run '%s' is %s: %s".formatted(ref.id(), ended.state(), ended.reason()),
                cause);
    }

    // ---- what reaches it and what it shows

    @Override
    public <T extends @Nullable Object> void send(Topic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        mailSender.deliver(ref.id(), mailSender.message(ref.id(), topic, value));
    }

    @Override
    public void resolveAwakeable(int position, @Nullable Object value) {
        EncryptedRuns.requireTransform(settings, ref, "Resolve its awakeable");
        mailSender.resolve(ref, position, value, services.auditor());
    }

    @Override
    public void rejectAwakeable(int position, String reason) {
        mailSender.reject(ref, position, reason, services.auditor());
    }

    @Override
    public <T extends @Nullable Object> Promise<T> promise(Topic<T> name) {
        Texts.requireGiven("name of the promise", name);
        return new PromiseHandle<>(ref, name, settings, progress, mailSender);
    }

    @Override
    public <T> Optional<T> published(Topic<T> topic) {
        Texts.requireGiven("topic", topic);
        return settings.store()
                .mailboxes()
                .latest(ref, topic.name())
                .map(latest -> decoded(topic, latest).value());
    }

    @Override
    public <T> T awaitPublished(Topic<T> topic, Duration timeout) {
        Texts.requireGiven("timeout", timeout);
        Texts.requireGiven("topic", topic);
        new PublishedReader<>(ref, topic, 0, settings, progress).awaitFirst(timeout);
        return published(topic).orElseThrow();
    }

    @Override
    public <T extends @Nullable Object> Iterator<Published<T>> follow(Topic<T> topic, long afterOffset) {
        Texts.requireGiven("topic", topic);
        return new PublishedReader<>(ref, topic, afterOffset, settings, progress);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the topic's own type
    private <T extends @Nullable Object> Published<T> decoded(Topic<T> topic, Mailboxes.Published published) {
        Object value = Values.read(
                settings.rules().codec().at(PayloadPlace.published(ref.id(), topic.name())),
                published.payload(),
                topic.type(),
                () -> "What run '%s' published as '%s'".formatted(ref.id(), topic));
        return new Published<>(published.offset(), published.at(), (T) value);
    }

    @Override
    public <O extends @Nullable Object> DagRun<O> dag(Dag<?, O> dag) {
        TypedDag typed = services.dags().of(dag);
        String definition = info().definition();
        if (!definition.equals(typed.name())) {
            throw new RunConflictException(
                    "Run '%s' is of '%s', not of DAG '%s'. Give the DAG that it runs, or use its handle as it is if it runs none."
                            .formatted(ref.id(), definition, typed.name()));
        }
        return new DagHandle<>(ref, typed, services);
    }

    @Override
    public List<StepProgress> progress() {
        return new HistoryReader(settings).progress(ref);
    }

    @Override
    public LogPage log(LogFilter filter) {
        Texts.requireGiven("log filter", filter);
        return settings.store().reports().log(ref, filter);
    }

    @Override
    public List<HistoryEvent> history() {
        return new HistoryReader(settings).read(ref);
    }

    @Override
    public History export() {
        return new HistoryExport(settings.store(), settings.rules().codec())
                .read(ref)
                .orElseThrow(() -> removed(ref.id()));
    }

    @Override
    public void cancel(String reason) {
        commands.send(ref, Change.CommandKind.CANCEL, reason);
    }

    @Override
    public void kill(String reason) {
        commands.send(ref, Change.CommandKind.KILL, reason);
    }

    @Override
    public void pause(String reason) {
        commands.send(ref, Change.CommandKind.PAUSE, reason);
    }

    @Override
    public void resume() {
        commands.send(ref, Change.CommandKind.RESUME, "");
    }

    @Override
    public void retry() {
        commands.retry(ref);
    }

    @Override
    public void repair(Repair repair) {
        Texts.requireGiven("repair", repair);
        EncryptedRuns.requireTransform(settings, ref, "Repair it");
        Values values = new Values(settings.rules().codec(), settings.rules().maxPayloadBytes())
                .at(PayloadPlace.entry(ref.id(), repair.position()));
        Object value = repair.value();
        Type type = value == null ? Object.class : value.getClass();
        Payload payload = repair.failure()
                .map(message -> values.encode(new FailedAttempt(
                        Failure.of(new TerminalException(message)), lastAttempt(repair.position()), 0)))
                .orElseGet(() -> values.store(value, type, "the repaired result of a step")
                        .payload());
        commands.repair(ref, repair, payload);
    }

    /** The number of the last attempt at a position. */
    private int lastAttempt(int position) {
        return history().stream()
                .filter(event -> event.position() == position)
                .mapToInt(HistoryEvent::attempt)
                .reduce(1, Math::max);
    }

    @Override
    public Run<R> fork(ForkOptions options) {
        Texts.requireGiven("fork options", options);
        EncryptedRuns.requireTransform(settings, ref, "Fork it");
        Clockwork clockwork = settings.clockwork();
        ForkWriter writer = new ForkWriter(settings);
        RunId id = options.id().orElseGet(() -> writer.id(ref.id(), clockwork.random()));
        long seed = clockwork.random();
        Backoff backoff = new Backoff(clockwork);
        Optional<RunRef> forked = commands.fork(writer.fork(ref, options, id, seed));
        for (int tries = 1; forked.isEmpty(); tries++) { // The run has changed while its values were copied.
            if (tries == MOST_FORK_TRIES) {
                throw new RetryRefusedException(
                        "Run '%s' is not forked. It has changed its attributes or its journal during each of %s tries to copy them. Pause the run, fork it, and resume it."
                                .formatted(ref.id(), tries));
            }
            backoff.pause();
            forked = commands.fork(writer.fork(ref, options, id, seed));
        }
        return new RunHandle<>(forked.get(), resultType, services);
    }

    @Override
    public String toString() {
        return "Run[" + ref.id() + "]";
    }
}
