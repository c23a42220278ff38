package dev.perdure.micrometer;

import dev.perdure.Perdure;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.spi.measure.Measurements;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Registers the metrics of an engine. {@code docs/operate/metrics.md} lists them.
 *
 * <pre>{@code
 * Perdure perdure = Perdure.on(store)
 *         .register(orders)
 *         .measurements(PerdureMetrics.on(registry))
 *         .start();
 * }</pre>
 *
 * <p>Tags are definitions, queues, outcomes and states, never ids. The meters of the store are read from it in the
 * background, at most every 15 seconds and only if they are asked for, so a registry never waits for the store.
 *
 * <p>Thread-safe. Engines of one process that share a registry have to share this object as well, because a registry has
 * each gauge once: what they count adds up.
 */
public final class PerdureMetrics implements Measurements {
    private static final String DEFINITION = "definition";
    private static final String QUEUE = "queue";
    private static final String OUTCOME = "outcome";

    /** The states as values of tags. A lookup makes no text. */
    private static final Map<RunState, String> NAMES = Arrays.stream(RunState.values())
            .collect(Collectors.toMap(
                    state -> state,
                    state -> state.name().toLowerCase(Locale.ROOT),
                    (one, other) -> one,
                    () -> new EnumMap<>(RunState.class)));

    private final MeterRegistry registry;
    private final Tagged<Counter> started;
    private final Tagged<Counter> ended;
    private final Tagged<Timer> ran;
    private final Tagged<Counter> left;
    private final Tagged<Timer> succeeded;
    private final Tagged<Timer> failed;
    private final AtomicInteger loaded = new AtomicInteger();
    private final AtomicInteger lanes = new AtomicInteger();
    private final Timer commits;
    private final DistributionSummary changes;
    private final Timer claims;
    private final Counter claimed;
    private final Timer lateness;
    private final Counter recovered;
    private final Counter removed;
    private volatile long renewedAt;
    private volatile boolean joined;
    private final StoreMeters store;

    private PerdureMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.started = new Tagged<>((definition, queue) -> Counter.builder("perdure.runs.started")
                .description("Runs that this worker has begun")
                .tag(DEFINITION, definition)
                .tag(QUEUE, queue)
                .register(registry));
        this.ended = new Tagged<>((definition, outcome) -> Counter.builder("perdure.runs.ended")
                .description("Runs that this process has ended")
                .tag(DEFINITION, definition)
                .tag(OUTCOME, outcome)
                .register(registry));
        this.ran = new Tagged<>((definition, outcome) -> Timer.builder("perdure.runs.duration")
                .description("How long runs took from their start to their end, with their waits")
                .tag(DEFINITION, definition)
                .tag(OUTCOME, outcome)
                .register(registry));
        this.left = new Tagged<>((definition, state) -> Counter.builder("perdure.runs.left")
                .description("Runs that have begun to wait, were paused or were given back")
                .tag(DEFINITION, definition)
                .tag("state", state)
                .register(registry));
        this.succeeded = new Tagged<>((definition, queue) -> attempts(definition, queue, "succeeded"));
        this.failed = new Tagged<>((definition, queue) -> attempts(definition, queue, "failed"));
        this.commits = Timer.builder("perdure.commits")
                .description("How long the store took for batches of changes")
                .register(registry);
        this.changes = DistributionSummary.builder("perdure.commits.changes")
                .description("How many changes were in a batch")
                .register(registry);
        this.claims = Timer.builder("perdure.claims")
                .description("How long the store took when the worker asked it for runs")
                .register(registry);
        this.claimed = Counter.builder("perdure.claims.runs")
                .description("Runs that the worker got when it asked for them")
                .register(registry);
        this.lateness = Timer.builder("perdure.wakeups.lateness")
                .description("How long after a waiting run was due the worker has asked for it")
                .register(registry);
        this.recovered = Counter.builder("perdure.runs.recovered")
                .description("Runs of dead workers that this worker has taken over")
                .register(registry);
        this.removed = Counter.builder("perdure.runs.removed")
                .description("Runs that this worker has removed because their retention is over")
                .register(registry);
        this.store = new StoreMeters(registry, System::nanoTime);
        Gauge.builder("perdure.runs.loaded", loaded, AtomicInteger::get)
                .description("Runs in the memory of this process")
                .strongReference(true)
                .register(registry);
        Gauge.builder("perdure.commits.active", lanes, AtomicInteger::get)
                .description("Batches on their way to the store, each on a lane")
                .strongReference(true)
                .register(registry);
        Gauge.builder("perdure.lease.age", this, PerdureMetrics::leaseAge)
                .description("Time since the worker last renewed its lease")
                .baseUnit("seconds")
                .register(registry);
    }

    /** Metrics in this registry. */
    public static PerdureMetrics on(MeterRegistry registry) {
        return new PerdureMetrics(Objects.requireNonNull(registry, "The registry is null. Pass one."));
    }

    private Timer attempts(String definition, String queue, String outcome) {
        return Timer.builder("perdure.steps.attempts")
                .description("How long attempts of steps took")
                .tag(DEFINITION, definition)
                .tag(QUEUE, queue)
                .tag(OUTCOME, outcome)
                .register(registry);
    }

    private double leaseAge() {
        return joined ? (System.nanoTime() - renewedAt) / 1e9 : Double.NaN;
    }

    @Override
    public void opened(Perdure perdure) {
        store.opened(perdure);
    }

    @Override
    public void closed(Perdure perdure) {
        store.closed(perdure);
        joined = false; // If another engine still works, its next renewal says so.
    }

    @Override
    public void changed(RunChange change) {
        RunState state = change.state();
        switch (state) {
            case COMPLETED, FAILED, CANCELLED, SKIPPED ->
                ended.get(change.definition(), nameOf(state)).increment();
            case READY, SUSPENDED, BACKING_OFF, PAUSED ->
                left.get(change.definition(), nameOf(state)).increment();
            case PENDING, RUNNING -> {}
        }
    }

    private static String nameOf(RunState state) {
        return NAMES.getOrDefault(state, "");
    }

    @Override
    public void began(String definition, String queue) {
        started.get(definition, queue).increment();
    }

    @Override
    public void ran(String definition, RunState state, long nanos) {
        ran.get(definition, nameOf(state)).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void loaded() {
        loaded.incrementAndGet();
    }

    @Override
    public void unloaded() {
        loaded.decrementAndGet();
    }

    @Override
    public void attempted(String definition, String queue, boolean success, long nanos) {
        (success ? succeeded : failed).get(definition, queue).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void committing() {
        lanes.incrementAndGet();
    }

    @Override
    public void committed(int count, long nanos) {
        commits.record(nanos, TimeUnit.NANOSECONDS);
        changes.record(count);
        lanes.decrementAndGet();
    }

    @Override
    public void polled(int runs, long nanos) {
        claims.record(nanos, TimeUnit.NANOSECONDS);
        if (runs > 0) {
            claimed.increment(runs);
        }
    }

    @Override
    public void woke(Duration late) {
        lateness.record(late);
    }

    @Override
    public void renewed() {
        renewedAt = System.nanoTime();
        joined = true;
    }

    @Override
    public void recovered(int runs) {
        recovered.increment(runs);
    }

    @Override
    public void removed(int runs) {
        removed.increment(runs);
    }
}
