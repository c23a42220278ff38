package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.KeyFullException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunConflictException;
import dev.perdure.internal.command.Commits;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.KnownState;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.object.CallPipeline;
import dev.perdure.internal.object.LocalCaller;
import dev.perdure.internal.object.LocalCaller.Reply;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.worker.Session;
import dev.perdure.internal.worker.Worker;
import dev.perdure.internal.worker.Workers;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.shard.Parts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Starts runs. If this process has a worker that has the definition and has room, the run begins in its memory and
 * needs no claim. Otherwise the run is ready for any worker.
 */
final class Starter {
    private final Settings settings;
    private final Registry registry;
    private final Workers workers;
    private final Parts parts;
    private final Commits commits;
    private final MailSender mailSender;
    private final Values values;

    Starter(Settings settings, Registry registry, Workers workers, Commits commits, MailSender mailSender) {
        this.settings = settings;
        this.registry = registry;
        this.workers = workers;
        this.parts = settings.parts();
        this.commits = commits;
        this.mailSender = mailSender;
        this.values = new Values(settings.rules().codec(), settings.rules().maxPayloadBytes());
    }

    RunRef start(CallTarget callee, @Nullable Object input, StartOptions options) {
        return startAll(List.of(request(callee, input, options))).getFirst();
    }

    /**
     * Calls a handler of a virtual object for a caller that waits for its result. If this process already executes
     * calls of the same object, the call joins them, and its start is committed together with its end. Otherwise it
     * starts like any other run.
     */
    Reply call(CallTarget callee, @Nullable Object input) {
        StartRequest request = request(callee, input, StartOptions.defaults());
        Worker worker = workers.of(request.run().id());
        Session home = worker == null ? null : worker.session();
        ObjectKey object = worker == null || home == null ? null : pipelined(worker, home, callee, request.run());
        if (home == null || object == null) {
            return startAlone(request);
        }
        commits.requireOpen();
        CallPipeline mine = home.pipelines().open(object).orElse(null);
        if (mine != null) {
            return startFirst(mine, request);
        }
        Registered handler = registry.find(request.run().definition()).orElseThrow();
        Reply reply = home.pipelines().execute(new LocalCaller(request.run(), handler, settings.clockwork()), object);
        return switch (reply) {
            case Reply.NotStored() -> startAlone(request);
            case Reply.StartFirst(CallPipeline pipeline) -> startFirst(pipeline, request);
            case Reply.Ended arrived -> arrived;
            case Reply.Stored stored -> stored;
        };
    }

    private Reply startAlone(StartRequest request) {
        return new Reply.Stored(startAll(List.of(request)).getFirst());
    }

    private Reply startFirst(CallPipeline pipeline, StartRequest request) {
        try {
            return startAlone(request);
        } finally {
            pipeline.expectNoMore();
        }
    }

    /** The object whose pipeline this call may join, or null. */
    private @Nullable ObjectKey pipelined(Worker worker, Session home, CallTarget callee, NewRun run) {
        ObjectKey object = wanted(run);
        boolean joins = object != null
                && callee.id(StartOptions.defaults(), parts::prefix).isEmpty()
                && worker.admits(home, List.of(run));
        return joins ? object : null;
    }

    /**
     * A run to be started.
     *
     * @param run the run
     * @param options its options
     * @param mails the mail in its mailbox when it begins
     * @param tasks the tasks that start with it
     */
    record StartRequest(NewRun run, StartOptions options, List<Mail> mails, List<Task> tasks) {
        Change.Start change(@Nullable WorkerId owner) {
            return new Change.Start(run, owner, mails, tasks);
        }

        StartRequest in(@Nullable String version) {
            return new StartRequest(run.in(run.queue(), version), options, mails, tasks);
        }

        /** The run as the worker would hold it from its start. */
        List<NewRun> first() {
            return tasks.isEmpty()
                    ? List.of(run)
                    : tasks.stream()
                            .filter(task -> task.after().isEmpty())
                            .map(Task::run)
                            .toList();
        }
    }

    StartRequest request(CallTarget callee, @Nullable Object input, StartOptions options) {
        callee.require(options);
        RunId id = callee.id(options, parts::prefix).orElseGet(() -> newId(callee, options));
        List<Mail> mails =
                options.messages().stream().map(message -> mail(id, message)).toList();
        NewRun run = newRun(id, callee, input, options);
        return new StartRequest(run, options, mails, callee.tasks(run));
    }

    /** An id in the part of the store that has the object that is called, the key of the start, or the key in the queue. */
    private RunId newId(CallTarget callee, StartOptions options) {
        RunId unique = TimeOrderedId.next(settings.clockwork());
        ObjectCall call = callee.object(options);
        String prefix = call == null
                ? options.startKey()
                        .map(key -> parts.prefix(callee.target().name(), key))
                        .or(() -> options.key().map(parts::prefix))
                        .orElse("")
                : parts.prefix(call.object());
        return prefix.isEmpty() ? unique : RunId.of(prefix + unique);
    }

    private <T extends @Nullable Object> Mail mail(RunId run, StartOptions.Message<T> message) {
        return mailSender.message(run, message.topic(), message.value());
    }

    /** Refuses a run that weighs more than the rate gives at once: it would exceed the rate, or wait for ever. */
    private void requireRate(StartOptions options) {
        if (options.weight() == 1) {
            return;
        }
        Queue queue = settings.store().queues().known(options.queue());
        int heaviest = queue.heaviest(options.key().isPresent());
        if (options.weight() > heaviest) {
            throw new InvalidRequestException(
                    "The run weighs %s, but the rate of the queue '%s' allows at most %s at once. Give the run less weight, or the queue a higher rate or burst."
                            .formatted(options.weight(), options.queue(), heaviest));
        }
    }

    private NewRun newRun(RunId id, CallTarget callee, @Nullable Object input, StartOptions options) {
        requireRate(options);
        boolean debounced = options.startKey().orElse(null) instanceof StartKey.Debounce;
        PayloadPlace place = debounced ? PayloadPlace.debounced() : PayloadPlace.input(id);
        Payload payload = values.at(place).input(callee, input);
        Clockwork clockwork = settings.clockwork();
        NewRun run = new NewRun(
                id,
                callee.target().name(),
                payload,
                clockwork.random(),
                options.queue(),
                options.priority(),
                options.version().orElse(null),
                options.timeout().orElse(null),
                options.delay().orElse(null),
                null,
                callee.object(options),
                values.attributes().encrypted(id, options.description()),
                options.key().orElse(null),
                new Admission(options.startWithin().orElse(null), options.weight())
                        .withKey(options.startKey().orElse(null), false)
                        .at(options.placement()));
        return settings.rules().interceptors().start(run, Optional.empty());
    }

    /** Starts runs in few commits. Tries all of them, and then throws the first refusal. */
    List<RunRef> startAll(List<StartRequest> requests) {
        commits.requireOpen();
        Map<Integer, List<StartRequest>> ofParts =
                Parts.divide(requests, request -> parts.of(request.run().id()));
        if (ofParts.size() == 1) {
            return startAll(ofParts.keySet().iterator().next(), requests);
        }
        Map<RunId, RunRef> started = new HashMap<>();
        PerdureException refusal = null;
        for (Map.Entry<Integer, List<StartRequest>> ofPart : ofParts.entrySet()) {
            try {
                List<RunRef> some = startAll(ofPart.getKey(), ofPart.getValue());
                for (int i = 0; i < some.size(); i++) {
                    started.put(ofPart.getValue().get(i).run().id(), some.get(i));
                }
            } catch (RunConflictException | KeyFullException | PayloadException refused) { // the others have begun
                refusal = refusal == null ? refused : refusal;
            }
        }
        if (refusal != null) {
            throw refusal;
        }
        return requests.stream()
                .map(request -> Objects.requireNonNull(started.get(request.run().id())))
                .toList();
    }

    private List<RunRef> startAll(int part, List<StartRequest> requests) {
        Worker worker = workers.of(part);
        Session home = worker == null ? null : worker.session();
        return home == null ? startAll(part, null, requests) : home.acquiring(() -> startAll(part, home, requests));
    }

    private List<RunRef> startAll(int part, @Nullable Session home, List<StartRequest> requests) {
        List<Change.Start> changes =
                requests.stream().map(request -> change(home, request)).toList();
        try {
            requests.forEach(request -> expect(home, request.run()));
            List<Outcome> outcomes = commits.commitAll(part, home, List.copyOf(changes));
            List<RunRef> started = new ArrayList<>();
            PerdureException refusal = null;
            for (int i = 0; i < requests.size(); i++) {
                try {
                    started.add(settle(home, requests.get(i), outcomes.get(i)));
                } catch (RunConflictException
                        | KeyFullException
                        | PayloadException refused) { // the others have begun all the same
                    refusal = refusal == null ? refused : refusal;
                }
            }
            if (refusal != null) {
                throw refusal;
            }
            return started;
        } finally {
            if (home != null) {
                changes.stream()
                        .filter(change -> change.owner() != null)
                        .forEach(change -> home.unexpect(change.run().id()));
                requests.forEach(request -> started(home, request.run(), false));
            }
        }
    }

    /** A pinned run belongs to the version of this worker if it begins in its memory. Otherwise a claim pins it. */
    private Change.Start change(@Nullable Session home, StartRequest request) {
        WorkerId owner = owner(home, request);
        NewRun run = request.run();
        Worker worker = workers.of(run.id());
        String version = owner == null || worker == null
                ? run.version()
                : worker.version().pin(run.definition(), run.version());
        return (Objects.equals(version, run.version()) ? request : request.in(version)).change(owner);
    }

    /** The worker in whose memory the run begins, if it has room. */
    private @Nullable WorkerId owner(@Nullable Session home, StartRequest request) {
        Worker worker = workers.of(request.run().id());
        if (home == null || worker == null || request.run().delay() != null) {
            return null;
        }
        List<NewRun> first = request.first();
        boolean begins =
                worker.admits(home, first) && home.expectIfRoom(request.run().id(), first.size());
        return begins ? home.id() : null;
    }

    private RunRef settle(@Nullable Session home, StartRequest request, Outcome outcome) {
        return switch (outcome) {
            case Outcome.Started started -> {
                if (started.owned() && home != null) {
                    launch(home, request, started);
                }
                if (home != null) {
                    home.handed(started.handed(), Optional.empty());
                    started(home, request.run(), !started.owned());
                }
                yield started.run();
            }
            case Outcome.Existing existing -> attach(request, existing);
            case Outcome.KeyTaken taken ->
                throw new RunConflictException(
                        "Run '%s' of '%s' has the key '%s'. Wait for it, choose another key, or attach to it."
                                .formatted(taken.run().id(), request.run().definition(), key(request)),
                        taken.run().id());
            case Outcome.KeyFull full ->
                throw new KeyFullException(
                        "Run '%s' was refused. %s Start it again when one of them has ended."
                                .formatted(request.run().id(), full.key().sentence()),
                        full.key().queue(),
                        full.key().key());
            case Outcome.Fenced fenced -> settle(null, request, startUnowned(request));
            case Outcome.Refused refused ->
                throw new PayloadException("Run '%s' was refused by the store: %s"
                        .formatted(request.run().id(), refused.reason()));
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        };
    }

    private void expect(@Nullable Session home, NewRun run) {
        ObjectKey object = wanted(run);
        if (home != null && object != null) {
            home.pipelines().expect(object, run.id());
        }
    }

    private void started(Session home, NewRun run, boolean waits) {
        ObjectKey object = wanted(run);
        if (object != null) {
            home.pipelines().started(object, run.id(), waits);
        }
    }

    /**
     * The object that the run holds or waits for as soon as it is started, or null. A call in a queue with limits never
     * runs ahead of its turn, because it would need a place in the queue; nor does a call that is placed, because the
     * store hands it to no worker.
     */
    private @Nullable ObjectKey wanted(NewRun run) {
        ObjectCall call = run.object();
        if (call == null
                || call.hold() != ObjectCall.Hold.EXCLUSIVE
                || !run.placement().isAnywhere()) {
            return null;
        }
        return settings.store().queues().limits(run.queue()) ? null : call.object();
    }

    private Outcome startUnowned(StartRequest request) {
        return commits.commitAll(parts.of(request.run().id()), null, List.of(request.change(null)))
                .getFirst();
    }

    private void launch(Session home, StartRequest request, Outcome.Started started) {
        NewRun run = request.run();
        Registered definition = registry.find(run.definition()).orElseThrow();
        Duration timeout = run.timeout();
        Instant deadline = timeout == null ? null : started.at().plus(timeout);
        HeldRun held = new HeldRun(
                started.run(),
                Outcome.Started.FIRST_EPOCH,
                definition,
                run.input(),
                run.seed(),
                request.mails().isEmpty()
                        ? Control.NONE
                        : new Control(0, request.mails().size(), null, null, null),
                deadline,
                false,
                List.of(),
                run.object(),
                known(run, started),
                Origin.of(run, started.at()));
        home.launch(held, Journals.Page.EMPTY);
    }

    private static @Nullable KnownState known(NewRun run, Outcome.Started started) {
        return run.object() == null || started.state() == null
                ? null
                : new KnownState(run.object().object(), new TreeMap<>(started.state()));
    }

    private RunRef attach(StartRequest request, Outcome.Existing existing) {
        NewRun wanted = request.run();
        RunId there = existing.run().id();
        if (!existing.definition().equals(wanted.definition())) {
            throw new RunConflictException(
                    "Run '%s' exists already and runs '%s', not '%s'. Choose another id."
                            .formatted(there, existing.definition(), wanted.definition()),
                    there);
        }
        if (!request.options().attachesToAnyInput() && !hasInput(existing, wanted)) {
            String message = wanted.admission().startKey() == null
                    ? "Run '%s' of '%s' exists already with another input. Choose another id, or attach with attachToAnyInput()."
                            .formatted(there, wanted.definition())
                    : "Run '%s' of '%s' has the key '%s' with another input. Choose another key, or attach with attachToAnyInput()."
                            .formatted(there, wanted.definition(), key(request));
            throw new RunConflictException(message, there);
        }
        return existing.run();
    }

    /** Whether a run was started with this input. A transform may give other bytes to the same value. */
    private boolean hasInput(Outcome.Existing existing, NewRun wanted) {
        PayloadCodec codec = settings.rules().codec();
        if (existing.sameInput() || !codec.transforms()) {
            return existing.sameInput();
        }
        Payload asked = codec.at(PayloadPlace.input(wanted.id())).encoded(wanted.input());
        PayloadCodec there = codec.at(PayloadPlace.input(existing.run().id()));
        return settings.store().runs().basis(existing.run()).stream()
                .anyMatch(basis -> there.encoded(basis.input()).equals(asked));
    }

    private static String key(StartRequest request) {
        return Objects.requireNonNull(request.run().admission().startKey()).key();
    }
}
