package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.StepTypes;
import dev.perdure.internal.engine.Engine;
import dev.perdure.internal.engine.Settings;
import dev.perdure.internal.execution.Host;
import dev.perdure.internal.json.CopyingCodec;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sets up an engine. What is not said has a default that suits a service with a handful of connections. */
public final class PerdureBuilder {
    private static final int MAX_NAME = 100;
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(500);

    private final Store store;
    private final List<Object> registrations = new ArrayList<>();
    private final List<RunListener> listeners = new ArrayList<>();
    private final Set<String> queues = new LinkedHashSet<>();
    private Codec codec = new JsonCodec();
    private RetryPolicy retry = RetryPolicy.standard();
    private Duration warmWindow = Duration.ofSeconds(1);
    private Duration lease = Duration.ofSeconds(10);
    private Duration closeTimeout = Duration.ofSeconds(10);
    private int maxRuns = 10_000;
    private int maxPayloadBytes = 4 * 1024 * 1024;
    private @Nullable String version;

    PerdureBuilder(Store store) {
        require(store != null, "the store is null; give it one, such as PostgresStore.on(dataSource).open()");
        this.store = store;
    }

    /**
     * Makes workflows known: objects with {@link Workflow} methods, {@link VirtualObject}s, {@link Definition}s and {@link Dag}s.
     *
     * @throws DefinitionException from {@link #start()}, for a signature that cannot be used or a name that is taken
     */
    public PerdureBuilder register(Object... workflows) {
        if (workflows == null || Arrays.asList(workflows).contains(null)) {
            throw new InvalidRequestException(
                    "register was given null. Give it objects with @Workflow methods, virtual objects, definitions or graphs.");
        }
        registrations.addAll(List.of(workflows));
        return this;
    }

    /** Tells this listener of every change of state that this engine makes. */
    public PerdureBuilder listener(RunListener listener) {
        listeners.add(listener);
        return this;
    }

    /** The retry policy of steps that name none. */
    public PerdureBuilder retry(RetryPolicy policy) {
        retry = policy;
        return this;
    }

    /** How values become bytes. JSON unless said otherwise. It gets copies of what is stored, and what it gives is copied. */
    public PerdureBuilder codec(Codec value) {
        codec = new CopyingCodec(value);
        return this;
    }

    /** Waits up to this long keep their thread; longer ones leave memory. A second by default; zero to always leave. */
    public PerdureBuilder warmWindow(Duration window) {
        require(!window.isNegative(), "warmWindow is " + window + "; it cannot be negative");
        warmWindow = window;
        return this;
    }

    /** How long this worker counts as alive without a sign of life. Ten seconds by default. */
    public PerdureBuilder lease(Duration duration) {
        require(duration.compareTo(SHORTEST_LEASE) >= 0, "lease is " + duration + "; it is at least " + SHORTEST_LEASE);
        lease = duration;
        return this;
    }

    /** How long {@link Perdure#close()} waits for running steps. Ten seconds by default. */
    public PerdureBuilder closeTimeout(Duration limit) {
        require(!limit.isNegative(), "closeTimeout is " + limit + "; it cannot be negative");
        closeTimeout = limit;
        return this;
    }

    /** The most runs held in memory at once. Ten thousand by default. */
    public PerdureBuilder maxRuns(int count) {
        require(count >= 1, "maxRuns is " + count + "; it is at least 1");
        maxRuns = count;
        return this;
    }

    /** The largest encoded value. Four MiB by default. */
    public PerdureBuilder maxPayloadBytes(int bytes) {
        require(bytes >= 1, "maxPayloadBytes is " + bytes + "; it is at least 1");
        maxPayloadBytes = bytes;
        return this;
    }

    /** The queues this worker takes runs from. {@value StartOptions#DEFAULT_QUEUE} unless said otherwise. */
    public PerdureBuilder queues(String... names) {
        for (String name : names) {
            queues.add(Names.require("queue", name, MAX_NAME));
        }
        return this;
    }

    /** The version of this worker's code: it may take runs that are pinned to it. */
    public PerdureBuilder version(String tag) {
        version = Names.require("version", tag, MAX_NAME);
        return this;
    }

    private static void require(boolean holds, String reason) {
        if (!holds) {
            throw new InvalidRequestException("Cannot set up the engine: " + reason + ".");
        }
    }

    /** Starts an engine with a worker that carries runs on. */
    public Perdure start() {
        return Engine.start(settings(true));
    }

    /** Starts an engine that starts, waits, lists and cancels, but runs nothing itself. */
    public Perdure client() {
        return Engine.start(settings(false));
    }

    private Settings settings(boolean worker) {
        Host.Rules rules = new Host.Rules(codec, new StepTypes(codec), retry, warmWindow, maxPayloadBytes, false);
        Set<String> from = queues.isEmpty() ? Set.of(StartOptions.DEFAULT_QUEUE) : Set.copyOf(queues);
        Settings.WorkerRules workerRules =
                worker ? new Settings.WorkerRules(from, version, lease, maxRuns, closeTimeout) : null;
        return new Settings(
                store, new SystemClockwork(), List.copyOf(registrations), List.copyOf(listeners), rules, workerRules);
    }
}
