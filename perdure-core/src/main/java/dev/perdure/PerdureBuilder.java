package dev.perdure;

import dev.perdure.audit.Operator;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.engine.Engine;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.json.CopyingCodec;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.object.VirtualObject;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Requirement;
import dev.perdure.reaction.Reaction;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Store;
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.payload.PayloadStore;
import dev.perdure.spi.payload.PayloadTransform;
import dev.perdure.version.Versions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Sets up an engine. Every option has a default that suits a service with a small connection pool. */
public final class PerdureBuilder {
    private static final int MAX_NAME = 100;
    /** A reference has half of it. */
    private static final int LEAST_INLINE = 100;

    private static final Duration SHORTEST_LEASE = Duration.ofMillis(500);

    private final Store store;
    private final List<Object> registrations = new ArrayList<>();
    private final List<RunListener> listeners = new ArrayList<>();
    private final List<Interceptor> interceptors = new ArrayList<>();
    private Measurements measurements = Measurements.NONE;
    private final Set<String> queues = new LinkedHashSet<>();
    private final Set<String> queuesBesides = new LinkedHashSet<>();
    private final List<Queue> declared = new ArrayList<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private final List<Limiter> limiters = new ArrayList<>();
    private Codec codec = new JsonCodec();
    private @Nullable PayloadTransform transform;
    private RetryPolicy retry = RetryPolicy.standard();
    private Duration warmWindow = Duration.ofSeconds(1);
    private Duration lease = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(10);
    private int maxRuns = 10_000;
    private int maxPayloadBytes = 4 * 1024 * 1024;
    private int maxInlineBytes = 1024 * 1024;
    private @Nullable PayloadStore payloadStore;
    private @Nullable String version;
    private Runnable whenDrained = () -> {};
    private final Map<String, String> labels = new TreeMap<>();
    private @Nullable Retention retention;
    private @Nullable Operator operator;

    PerdureBuilder(Store store) {
        require(store != null, "the store is null; give it one, such as PostgresStore.on(dataSource).open()");
        this.store = store;
    }

    /**
     * Registers workflows: objects with {@link Workflow} methods, {@link VirtualObject}s, {@link Definition}s and
     * {@link Dag}s.
     *
     * @throws DefinitionException from {@link #start()}, if a signature is not usable or two registrations have the
     *     same name
     */
    public PerdureBuilder register(Object... workflows) {
        if (workflows == null || Arrays.asList(workflows).contains(null)) {
            throw new InvalidRequestException(
                    "register was given null. Give it objects with @Workflow methods, virtual objects, definitions or DAGs.");
        }
        registrations.addAll(List.of(workflows));
        return this;
    }

    /** Calls this listener after every change of state that this engine commits. */
    public PerdureBuilder listener(RunListener listener) {
        Texts.requireGiven("listener", listener);
        listeners.add(listener);
        return this;
    }

    /** Tells what the engine measures about itself. A module that offers metrics makes it. */
    public PerdureBuilder measurements(Measurements told) {
        Texts.requireGiven("measurements", told);
        measurements = told;
        return this;
    }

    /** Puts this code around starts, workflows and steps, inside of the interceptors that were given before. */
    public PerdureBuilder interceptor(Interceptor interceptor) {
        Texts.requireGiven("interceptor", interceptor);
        interceptors.add(interceptor);
        return this;
    }

    /** The retry policy of steps that set none of their own. */
    public PerdureBuilder retry(RetryPolicy policy) {
        Texts.requireGiven("retry policy", policy);
        retry = policy;
        return this;
    }

    /**
     * How the engine turns values into bytes. JSON by default. The engine passes copies of stored bytes to the codec,
     * and copies what the codec returns.
     */
    public PerdureBuilder codec(Codec value) {
        Texts.requireGiven("codec", value);
        codec = new CopyingCodec(value);
        return this;
    }

    /**
     * Transforms the bytes of values after the codec has written them, and back before it reads them: to encrypt or to
     * compress them. All engines of a store need it.
     */
    public PerdureBuilder transform(PayloadTransform value) {
        Texts.requireGiven("transform", value);
        transform = value;
        return this;
    }

    /**
     * How long a waiting run stays in memory with its thread. A run that waits longer leaves memory. One second by
     * default; zero makes every wait leave memory at once.
     */
    public PerdureBuilder warmWindow(Duration window) {
        Texts.requireGiven("warm window", window);
        require(!window.isNegative(), "warmWindow is " + window + "; it cannot be negative");
        warmWindow = window;
        return this;
    }

    /** How long this worker counts as alive after it last renewed its lease. Ten seconds by default. */
    public PerdureBuilder lease(Duration duration) {
        Texts.requireGiven("lease", duration);
        require(duration.compareTo(SHORTEST_LEASE) >= 0, "lease is " + duration + "; it is at least " + SHORTEST_LEASE);
        lease = duration;
        return this;
    }

    /** How long {@link Perdure#close()} waits for running steps. Ten seconds by default. */
    public PerdureBuilder closeTimeout(Duration limit) {
        Texts.requireGiven("close timeout", limit);
        require(!limit.isNegative(), "closeTimeout is " + limit + "; it cannot be negative");
        closeTimeout = limit;
        return this;
    }

    /** How many runs this worker holds in memory at most. 10,000 by default. */
    public PerdureBuilder maxRuns(int count) {
        require(count >= 1, "maxRuns is " + count + "; it is at least 1");
        maxRuns = count;
        return this;
    }

    /**
     * How many bytes an encoded value may have to be stored in the journal itself. A larger one goes to the payload
     * store, and the journal has a reference to it. 1 MiB by default.
     */
    public PerdureBuilder maxInlineBytes(int bytes) {
        require(bytes >= LEAST_INLINE, "maxInlineBytes is %s; it is at least %s".formatted(bytes, LEAST_INLINE));
        maxInlineBytes = bytes;
        return this;
    }

    /**
     * Where large values are kept. By default in the store of the runs: PostgreSQL has tables of their own for them. All
     * engines on a store use the same payload store.
     */
    public PerdureBuilder payloadStore(PayloadStore keeper) {
        Texts.requireGiven("payload store", keeper);
        payloadStore = keeper;
        return this;
    }

    /** How many bytes an encoded value may have. 4 MiB by default. */
    public PerdureBuilder maxPayloadBytes(int bytes) {
        require(bytes >= 1, "maxPayloadBytes is " + bytes + "; it is at least 1");
        maxPayloadBytes = bytes;
        return this;
    }

    /**
     * The queues from which this worker takes runs, in place of {@value StartOptions#DEFAULT_QUEUE}. It takes runs from
     * the queues that {@link #queues(Queue...)} declares as well.
     */
    public PerdureBuilder queues(String... names) {
        Texts.requireGiven("list of queues", names);
        for (String name : names) {
            queues.add(Names.require("queue", name, MAX_NAME));
        }
        return this;
    }

    /**
     * Declares queues with their limits, and also takes runs from them: beside {@value StartOptions#DEFAULT_QUEUE}, or
     * beside the queues that {@link #queues(String...)} names. A worker for nothing else names them too:
     * {@code queues(IMPORTS.name()).declare(IMPORTS)}.
     */
    public PerdureBuilder queues(Queue... withLimits) {
        declare(withLimits);
        for (Queue queue : withLimits) {
            queuesBesides.add(queue.name());
        }
        return this;
    }

    /**
     * Declares queues with their limits, without taking runs from them. The engine stores the declarations when it
     * starts; if processes declare a queue differently, the limits are those of the process that started last. What
     * operators have changed stays in effect.
     */
    public PerdureBuilder declare(Queue... withLimits) {
        Texts.requireGiven("list of queues", withLimits);
        for (Queue queue : withLimits) {
            Texts.requireGiven("queue", queue);
            require(
                    declared.stream().noneMatch(other -> other.name().equals(queue.name())),
                    "the queue '%s' is declared twice; declare it once, with all its limits".formatted(queue.name()));
            declared.add(queue);
        }
        return this;
    }

    /**
     * Declares schedules. The engine stores the declarations when it starts; if processes declare a schedule
     * differently, it is as the process declares it that started last. What was changed at run time stays in effect.
     * Workers that declare a schedule fire it: one that no live worker declares any more does not fire, and is kept
     * until it is deleted.
     */
    public PerdureBuilder schedules(Schedule... declarations) {
        Texts.requireGiven("list of schedules", declarations);
        for (Schedule schedule : declarations) {
            require(schedule != null, "a schedule is null; give it one, such as Schedule.cron(…)");
            schedules.add(schedule);
        }
        return this;
    }

    /**
     * Declares limiters of steps. The engine stores the declarations when it starts; if processes declare a limiter
     * differently, the limits are those of the process that started last. What operators have changed stays in effect.
     * A limiter that no process has declared is declared by the first step that names it.
     */
    public PerdureBuilder limiters(Limiter... withLimits) {
        Texts.requireGiven("list of limiters", withLimits);
        for (Limiter limiter : withLimits) {
            Texts.requireGiven("limiter", limiter);
            require(
                    limiters.stream().noneMatch(other -> other.name().equals(limiter.name())),
                    "the limiter '%s' is declared twice; declare it once, with all its limits"
                            .formatted(limiter.name()));
            limiters.add(limiter);
        }
        return this;
    }

    /**
     * Declares reactions. The engine stores the declarations when it starts, and from then on they hold for the runs of
     * all processes; if processes declare a reaction differently, it is as the process declares it that started last. A
     * reaction that no process declares any more is kept until it is deleted.
     */
    public PerdureBuilder reactions(Reaction... declarations) {
        Texts.requireGiven("list of reactions", declarations);
        for (Reaction reaction : declarations) {
            require(reaction != null, "a reaction is null; give it one, such as Reaction.named(…)");
            registrations.add(reaction);
        }
        return this;
    }

    /**
     * The version of this worker's code. The worker takes runs pinned to this version, and runs that are not pinned. It
     * pins the runs that it begins if their definitions are {@linkplain Workflow#pinned pinned}.
     */
    public PerdureBuilder version(String tag) {
        version = Names.require("version", tag, MAX_NAME);
        return this;
    }

    /**
     * Calls this, in a thread of its own, when the version of this worker is drained: an operator has {@linkplain
     * Versions#drain told} it to take no more runs, and no run is left that is pinned to it. The process may then end. It
     * is called again if an operator resumes the version and drains it once more.
     */
    public PerdureBuilder whenDrained(Runnable action) {
        Texts.requireGiven("action", action);
        whenDrained = action;
        return this;
    }

    /**
     * Gives this worker a label, such as {@code label("gpu", "true")} or {@code label("memory", "32")}, in place of an
     * earlier one of this name. Runs may {@linkplain StartOptions#requires require} or {@linkplain StartOptions#prefers
     * prefer} labels; a worker also takes runs that do neither.
     *
     * @param name its name: letters, digits and _ . : / + -, at most 100
     * @param value its value, of the same characters
     */
    public PerdureBuilder label(String name, String value) {
        Requirement.checkLabel(name, value);
        labels.put(name, value);
        return this;
    }

    /**
     * How long the store keeps runs that have ended. Without it, what another process has declared applies, and
     * otherwise {@link Retention#standard()}. The engine stores the declaration when it starts; if processes declare it
     * differently, the one that started last counts. What operators have changed stays in effect.
     */
    public PerdureBuilder retention(Retention rules) {
        Texts.requireGiven("retention", rules);
        retention = rules;
        return this;
    }

    /**
     * Whom the audit records for commands through this engine. Without it, the user of this process on its host ({@link
     * Operator#ofProcess()}). {@link Perdure#as} gives single commands in the name of another operator.
     */
    public PerdureBuilder operator(Operator commander) {
        Texts.requireGiven("operator", commander);
        operator = commander;
        return this;
    }

    private static void require(boolean holds, String reason) {
        if (!holds) {
            throw new InvalidRequestException("Cannot set up the engine: " + reason + ".");
        }
    }

    /**
     * Starts an engine with a worker that runs workflows.
     *
     * @throws DefinitionException if a registration is not usable, or is pinned and the worker has no version
     */
    public Perdure start() {
        if (version == null) {
            Registry.pinned(registrations).sorted().findFirst().ifPresent(name -> {
                throw new DefinitionException(
                        "The runs of '%s' are pinned to the version of their worker, and this worker has none. Give it one with version(…), such as the number of the build, or do not pin '%s'."
                                .formatted(name, name));
            });
        }
        return opened(Engine.start(settings(true)));
    }

    /** Starts an engine without a worker: it starts, awaits, lists and cancels runs, but runs none itself. */
    public Perdure client() {
        return opened(Engine.start(settings(false)));
    }

    private Perdure opened(Perdure engine) {
        measurements.opened(engine);
        return engine;
    }

    private Settings settings(boolean worker) {
        Clockwork clockwork = new SystemClockwork();
        PayloadStore payloads = payloadStore == null ? store.payloads() : payloadStore;
        ExecutionRules rules = new ExecutionRules(
                PayloadCodec.of(codec, payloads, maxInlineBytes, clockwork).transforming(transform),
                new StepTypes(codec),
                retry,
                warmWindow,
                maxPayloadBytes,
                Interceptors.of(interceptors),
                measurements,
                false);
        Set<String> from = new LinkedHashSet<>(queues.isEmpty() ? Set.of(StartOptions.DEFAULT_QUEUE) : queues);
        from.addAll(queuesBesides);
        Settings.WorkerRules workerRules = worker
                ? new Settings.WorkerRules(
                        Set.copyOf(from), version, lease, maxRuns, closeTimeout, Map.copyOf(labels), whenDrained)
                : null;
        return new Settings(
                store,
                clockwork,
                List.copyOf(registrations),
                measurements == Measurements.NONE
                        ? List.copyOf(listeners)
                        : Stream.concat(listeners.stream(), Stream.<RunListener>of(measurements::changed))
                                .toList(),
                rules,
                List.copyOf(declared),
                List.copyOf(schedules),
                List.copyOf(limiters),
                retention,
                operator,
                workerRules);
    }
}
