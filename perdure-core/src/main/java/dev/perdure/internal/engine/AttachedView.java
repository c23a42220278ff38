package dev.perdure.internal.engine;

import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.error.ClosedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.ObjectMethods;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.handle.HistoryPages;
import dev.perdure.internal.handle.RunHandle;
import dev.perdure.internal.handle.TaskReruns;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.payload.EncryptedAttributes;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.waiter.ProgressWaiters;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.spi.Codec;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What adapters see of an engine. */
final class AttachedView implements EngineView {
    private final Settings settings;
    private final RunHandle.Services services;
    private final Waiting waiting;
    private final EngineObject.Caller caller;
    private final Map<String, ObjectHandler> handlers;
    private final List<Signature> signatures;
    private final JsonCodec json = new JsonCodec();

    /**
     * What callers of an engine wait with.
     *
     * @param results for the ends of runs
     * @param progress for what runs publish
     * @param closed whether the engine is closed
     */
    record Waiting(
            Waiters<RunRef, Runs.Ended> results,
            Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress,
            BooleanSupplier closed) {}

    AttachedView(RunHandle.Services services, Registry registry, Waiting waiting, EngineObject.Caller caller) {
        this.services = services;
        this.settings = services.settings();
        this.waiting = waiting;
        this.caller = caller;
        this.handlers = settings.registrations().stream()
                .flatMap(registration -> ObjectMethods.handlers(registration).stream())
                .collect(
                        Collectors.toUnmodifiableMap(handler -> handler.target().name(), Function.identity()));
        this.signatures = signatures(registry, services.dags().names());
    }

    private List<Signature> signatures(Registry registry, List<String> dags) {
        List<Signature> found = new ArrayList<>();
        registry.names().stream()
                .filter(name -> !name.startsWith(Runs.OF_THE_ENGINE) && !isPart(name, dags))
                .forEach(name -> {
                    Kind ofRun = dags.contains(name) ? Kind.DAG : Kind.WORKFLOW;
                    Target target = registry.find(name).orElseThrow().target();
                    found.add(new Signature(
                            name,
                            handlers.containsKey(name) ? Kind.HANDLER : ofRun,
                            target.inputType(),
                            target.resultType()));
                });
        found.sort(Comparator.comparing(Signature::name));
        return List.copyOf(found);
    }

    /** Whether it is a task of a DAG, or the edit of an object's state: callers start neither by its name. */
    private boolean isPart(String name, List<String> dags) {
        Stream<String> objects = handlers.values().stream().map(ObjectHandler::object);
        return !handlers.containsKey(name)
                && Stream.concat(dags.stream(), objects).anyMatch(whole -> name.startsWith(whole + "/"));
    }

    @Override
    public Store store() {
        return settings.store();
    }

    @Override
    public Codec codec(PayloadPlace place) {
        return settings.rules().codec().at(place);
    }

    @Override
    public RunInfo decrypted(RunInfo stored) {
        return new EncryptedAttributes(settings.rules().codec()).decrypted(stored);
    }

    @Override
    public List<Signature> signatures() {
        return signatures;
    }

    @Override
    public @Nullable Object readJson(byte[] text, Type type) {
        return json.verify(null, new Payload(text), type);
    }

    @Override
    public byte[] writeJson(@Nullable Object value, Type type) {
        return json.encode(value, type).bytes();
    }

    @Override
    public Run<@Nullable Void> run(RunRef found) {
        return new RunHandle<>(found, Void.class, services);
    }

    @Override
    public HistoryPage history(RunRef run, HistoryPlace after, int limit) {
        return new HistoryPages(settings).read(run, after, limit);
    }

    @Override
    public Run<@Nullable Void> call(ObjectKey object, String handler, @Nullable Object input, StartOptions options) {
        Texts.requireName("object key", object.key());
        ObjectHandler called = handlers.get(object.type() + "/" + handler);
        if (called == null) {
            throw new InvalidRequestException(
                    "No virtual object '%s' with a handler '%s' is registered here. Register its class with this engine."
                            .formatted(object.type(), handler));
        }
        return caller.start(CallTarget.of(called, object.key()), input, options);
    }

    @Override
    public void rerun(Operator operator, RunRef run, Optional<String> task) {
        TaskReruns reruns = new TaskReruns(services.of(new Auditor(operator, settings.clockwork())));
        task.ifPresentOrElse(name -> reruns.of(run, name), () -> reruns.failed(run));
    }

    @Override
    public Runs.Found awaiting(String token) {
        Mailboxes.Address address = MailSender.find(settings.store().mailboxes(), token);
        return settings.store().runs().find(address.run()).orElseThrow(MailSender::unknownToken);
    }

    @Override
    public Optional<Runs.Ended> awaitEnd(RunRef run, Duration atMost) throws InterruptedException {
        Optional<Runs.Ended> ended = Optional.ofNullable(waiting.results().await(run, atMost.toNanos()));
        requireOpen(ended, run);
        return ended;
    }

    @Override
    public Optional<Mailboxes.Shown> awaitPublished(Mailboxes.Place place, Duration atMost)
            throws InterruptedException {
        Optional<Mailboxes.Shown> seen = Optional.ofNullable(
                        waiting.progress().await(new ProgressWaiters.More(place), atMost.toNanos()))
                .filter(ProgressWaiters.Page.class::isInstance)
                .map(ProgressWaiters.Page.class::cast)
                .map(page -> new Mailboxes.Shown(page.values(), page.values().isEmpty(), page.removed()));
        requireOpen(seen, place.run());
        return seen;
    }

    private void requireOpen(Optional<?> answer, RunRef run) {
        if (answer.isEmpty() && waiting.closed().getAsBoolean()) {
            throw new ClosedException(
                    "The engine is closed, so it cannot wait for run '%s'. Wait through an engine that is open."
                            .formatted(run.id()));
        }
    }
}
