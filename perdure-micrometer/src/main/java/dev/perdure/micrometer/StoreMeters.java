package dev.perdure.micrometer;

import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.status.StoreStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The gauges of the store. How it works: a gauge returns what was read last. If that is old, it also begins to read
 * anew, on another thread and once at a time. So a scrape never waits for the store, and a process that nobody scrapes
 * reads nothing. The more runs there are the longer it takes, and the more rarely it reads. If the store is out of reach
 * the gauges keep their values, and their age grows.
 */
final class StoreMeters {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final Duration OLD = Duration.ofSeconds(15);
    /** After it has read, it rests for this many times as long as that took. */
    private static final int REST = 20;

    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final long FAR = Long.MAX_VALUE / 2;
    private static final List<RunState> LIVE = List.of(
            RunState.PENDING,
            RunState.READY,
            RunState.RUNNING,
            RunState.SUSPENDED,
            RunState.BACKING_OFF,
            RunState.PAUSED);

    /**
     * What was read.
     *
     * @param nanos when, by the monotonic clock
     * @param runs the runs that have not ended, by state
     * @param workers how many workers are alive
     * @param due how many runs retention removes next
     */
    private record Sample(long nanos, Map<RunState, Long> runs, int workers, int due) {}

    private final List<Perdure> engines = new CopyOnWriteArrayList<>();
    private final MultiGauge ready;
    private final MultiGauge age;
    private final MultiGauge held;
    private final LongSupplier nanoTime;
    /** When it reads next; in the far future while it reads. */
    private final AtomicLong due;

    private volatile @Nullable Sample last;
    /** When the first of the engines opened. */
    private volatile long opened;

    StoreMeters(MeterRegistry registry, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.due = new AtomicLong(nanoTime.getAsLong());
        this.ready = MultiGauge.builder("perdure.queue.ready")
                .description("Runs that wait in a queue for a worker or a place")
                .register(registry);
        this.age = MultiGauge.builder("perdure.queue.ready.age")
                .description("For how long the oldest of them waits")
                .baseUnit("seconds")
                .register(registry);
        this.held = MultiGauge.builder("perdure.queue.held")
                .description("Runs of a queue that workers hold")
                .register(registry);
        for (RunState state : LIVE) {
            Gauge.builder("perdure.runs", this, of(sample -> sample.runs().getOrDefault(state, 0L)))
                    .description("Runs in the store that have not ended")
                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        Gauge.builder("perdure.workers", this, of(Sample::workers))
                .description("Workers that are alive")
                .register(registry);
        Gauge.builder("perdure.retention.due", this, of(Sample::due))
                .description("Runs that retention looks at next, 10,000 at most")
                .register(registry);
        Gauge.builder("perdure.store.age", this, StoreMeters::age)
                .description("Time since the gauges of the store were read, or since the engine opened")
                .baseUnit("seconds")
                .register(registry);
    }

    private static ToDoubleFunction<StoreMeters> of(ToDoubleFunction<Sample> value) {
        return meters -> {
            Sample sample = meters.look();
            return sample == null ? Double.NaN : value.applyAsDouble(sample);
        };
    }

    /** Not NaN before the first read: a store that was never reached since the process started has an age, too. */
    private double age() {
        Sample sample = look();
        if (sample == null && engines.isEmpty()) {
            return Double.NaN;
        }
        return (nanoTime.getAsLong() - (sample == null ? opened : sample.nanos())) / 1e9;
    }

    void opened(Perdure perdure) {
        if (engines.isEmpty()) {
            opened = nanoTime.getAsLong();
        }
        engines.add(perdure);
    }

    void closed(Perdure perdure) {
        engines.remove(perdure);
        forgetIfClosed();
    }

    /** Without an engine nothing is known. */
    private void forgetIfClosed() {
        if (engines.isEmpty()) {
            last = null;
            Stream.of(ready, age, held).forEach(gauge -> gauge.register(List.of(), true));
        }
    }

    private @Nullable Sample look() {
        long now = nanoTime.getAsLong();
        long next = due.get();
        if (now - next >= 0 && !engines.isEmpty() && due.compareAndSet(next, now + FAR)) {
            Thread.ofVirtual().name("perdure-metrics").start(this::read);
        }
        return last;
    }

    private void read() {
        long began = nanoTime.getAsLong();
        Sample sample = last;
        try {
            Perdure perdure = engines.getFirst();
            StoreStatus status = perdure.status();
            show(status.at(), perdure.queues().list());
            Map<RunState, Long> runs = new EnumMap<>(RunState.class);
            status.runs().forEach(each -> runs.put(each.state(), each.count()));
            sample = new Sample(
                    nanoTime.getAsLong(),
                    runs,
                    status.workers(),
                    status.removal().due());
        } catch (RuntimeException unreadable) { // The engine logs that the store is out of reach, and may have closed.
            LOG.debug("The metrics of the store cannot be read; they are read again soon.", unreadable);
        } finally {
            long ended = nanoTime.getAsLong();
            last = sample;
            due.set(ended + Math.clamp(REST * (ended - began), OLD.toNanos(), LONGEST.toNanos()));
            forgetIfClosed();
        }
    }

    private void show(Instant now, List<QueueInfo> queues) {
        ready.register(rows(queues, load -> load.waiting()), true);
        age.register(
                rows(
                        queues,
                        load -> load.oldest()
                                .map(oldest -> Math.max(
                                        0, Duration.between(oldest, now).toMillis() / 1e3))
                                .orElse(0.0)),
                true);
        held.register(rows(queues, load -> load.atWork()), true);
    }

    private static List<MultiGauge.Row<?>> rows(List<QueueInfo> queues, ToDoubleFunction<QueueInfo.Load> value) {
        return queues.stream()
                .<MultiGauge.Row<?>>map(
                        queue -> MultiGauge.Row.of(Tags.of("queue", queue.name()), value.applyAsDouble(queue.load())))
                .toList();
    }
}
