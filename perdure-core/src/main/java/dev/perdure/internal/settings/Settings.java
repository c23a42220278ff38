package dev.perdure.internal.settings;

import dev.perdure.RunListener;
import dev.perdure.audit.Operator;
import dev.perdure.internal.commit.MeasuredLedger;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Requirement;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.shard.Parts;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Everything that an engine is built from.
 *
 * @param store the store
 * @param clockwork the source of time and threads
 * @param registrations objects with workflow methods, and definitions
 * @param listeners the listeners for changes of state
 * @param rules how executions behave
 * @param queues the queues that it declares
 * @param schedules the schedules that it declares
 * @param limiters the limiters of steps that it declares
 * @param retention how long it declares that ended runs are kept, or null if it declares nothing
 * @param operator whom the audit records for its commands, or null for the user of this process
 * @param worker how its worker behaves, or null for a client without one
 */
public record Settings(
        Store store,
        Clockwork clockwork,
        List<Object> registrations,
        List<RunListener> listeners,
        ExecutionRules rules,
        List<Queue> queues,
        List<Schedule> schedules,
        List<Limiter> limiters,
        @Nullable Retention retention,
        @Nullable Operator operator,
        @Nullable WorkerRules worker) {
    /**
     * The queue of the engine's own runs: schedules and bulk actions. Every worker takes from it, so that no limit of
     * another queue holds them up.
     */
    public static final String SCHEDULES_QUEUE = "perdure.schedules";

    /** Fire times come before the runs that wait, so that a backlog does not make schedules late. */
    public static final int SCHEDULES_PRIORITY = Integer.MAX_VALUE;

    /** The ledger, measured if anything is. */
    public Ledger ledger() {
        return rules.measurements() == Measurements.NONE
                ? store.ledger()
                : new MeasuredLedger(store.ledger(), rules.measurements(), clockwork);
    }

    /** The parts of the store. The only part is the store itself, also if it wraps the one that has the parts. */
    public Parts parts() {
        Parts parts = store.parts();
        return parts.stores().size() == 1 ? parts.through(List.of(store)) : parts;
    }

    /** The same for a part of the store, in which the worker holds its share of the runs. */
    public Settings on(Store part) {
        int parts = parts().stores().size();
        return new Settings(
                part,
                clockwork,
                registrations,
                listeners,
                rules,
                queues,
                schedules,
                limiters,
                retention,
                operator,
                worker == null ? null : worker.ofParts(parts));
    }

    /** The same, but values of any size are stored in place. */
    public Settings inline() {
        return new Settings(
                store,
                clockwork,
                registrations,
                listeners,
                rules.with(rules.codec().inline()),
                queues,
                schedules,
                limiters,
                retention,
                operator,
                worker);
    }

    /**
     * How a worker behaves.
     *
     * @param queues the queues from which it takes runs
     * @param version its version, or null
     * @param lease how long it counts as alive after it last renewed its lease
     * @param maxRuns the most runs in memory
     * @param closeTimeout how long closing waits for step bodies
     * @param labels its labels, without its id
     * @param whenDrained what to call when its version is drained
     */
    public record WorkerRules(
            Set<String> queues,
            @Nullable String version,
            Duration lease,
            int maxRuns,
            Duration closeTimeout,
            Map<String, String> labels,
            Runnable whenDrained) {
        /** Adds the queue of schedules. */
        public WorkerRules {
            Set<String> all = new TreeSet<>(queues);
            all.add(SCHEDULES_QUEUE);
            queues = Collections.unmodifiableSet(all);
        }

        /** The same for one of several workers, which divide the runs in memory among them. */
        WorkerRules ofParts(int parts) {
            return new WorkerRules(
                    queues, version, lease, Math.max(1, maxRuns / parts), closeTimeout, labels, whenDrained);
        }

        /** The labels of the worker under this id. */
        public Map<String, String> labels(WorkerId id) {
            Map<String, String> all = new TreeMap<>(labels);
            all.put(Requirement.WORKER, id.value().toString());
            return Collections.unmodifiableMap(all);
        }
    }
}
