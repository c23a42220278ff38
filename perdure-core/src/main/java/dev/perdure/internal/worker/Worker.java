package dev.perdure.internal.worker;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Outage;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.execution.Execution;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.report.EngineLog;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;

/**
 * The part of an engine that executes runs. It keeps a lease, and one {@link Session} for each lease; the {@link
 * Dispatcher} claims runs for it.
 *
 * <p>How it works. One loop renews the lease four times in its length and sweeps up the runs of dead workers. Another
 * loop waits for the lease to end by the process's own monotonic clock. If no renewal got through by then, it ends the
 * session, and the session writes nothing more. That loop never waits for the store, because the store may hang for
 * longer than the lease, for instance in a connection pool. A renewal counts only when the worker also
 * knows which runs have moved to another part of the store ({@link dev.perdure.spi.shard.Parts#follow}), and has dropped
 * them. So a worker that does not learn of a move loses its lease, and the part that the runs have left can forget them when
 * that lease has ended. When the session has ended, or the store refused a renewal,
 * the worker joins again under a new id and names its former one, so that the store knows that the former one dropped
 * its runs and did not die.
 */
public final class Worker implements Session.Home {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");
    private static final int RENEWALS_PER_LEASE = 4;
    private static final int SWEEP_BATCH = 500;
    /** How much longer than the limit for bodies a close takes at most. */
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Settings settings;
    private final Settings.WorkerRules rules;
    private final Registry registry;
    private final Session.Shared shared;
    private final WorkerLimits limits;
    private final Draining draining;
    private final Dispatcher dispatcher;
    private final RetentionLoop retention;
    private final Clockwork.Signal tick;
    private final Clockwork.Signal expiry;
    private final Clockwork.Signal emptied;
    private volatile Session session;
    private volatile boolean closing;
    private volatile boolean left;

    /** @param limits what the workers of the engine keep together */
    public Worker(
            Settings settings,
            Settings.WorkerRules rules,
            Registry registry,
            Session.Shared shared,
            WorkerLimits limits) {
        this.settings = settings;
        this.rules = rules;
        this.registry = registry;
        this.shared = shared;
        this.limits = limits;
        this.tick = settings.clockwork().signal();
        this.expiry = settings.clockwork().signal();
        this.emptied = settings.clockwork().signal();
        this.draining = new Draining(settings.store().versions(), settings.clockwork(), rules, registry);
        this.dispatcher = new Dispatcher(
                settings,
                rules,
                registry,
                draining,
                look -> limits.claimer(queue -> session.runs().of(queue), look),
                emptied::raise);
        this.retention = new RetentionLoop(settings);
        this.session = join(Set.of());
        boolean unused = draining.look(session.id(), session.acquisitions());
    }

    public void start() {
        settings.clockwork().loop("perdure-lease", this::keepLease);
        settings.clockwork().loop("perdure-lease-expiry", this::endAtExpiry);
        settings.clockwork().loop("perdure-dispatch", () -> dispatcher.loop(() -> session));
        settings.clockwork().loop("perdure-retention", retention::loop);
    }

    private Session join(Set<WorkerId> former) {
        Clockwork clockwork = settings.clockwork();
        WorkerId id = new WorkerId(new UUID(clockwork.random(), clockwork.random()));
        Session joining = new Session(id, settings, rules.lease(), shared, this);
        long sent = clockwork.nanoTime();
        Instant now = settings.store()
                .leases()
                .join(new Leases.Joining(
                        id,
                        registry.names(),
                        rules.version(),
                        rules.lease(),
                        settings.store().lanes(),
                        former,
                        rules.queues(),
                        rules.labels(id)));
        joining.sessionLease().joined(sent);
        settings.rules().measurements().renewed();
        shared.clock().observe(now);
        LOG.info(
                "Worker {} joined: {} definitions {}, queues {}, version {}, labels {}, lease {}, at most {} runs.",
                id,
                registry.names().size(),
                new TreeSet<>(registry.names()),
                new TreeSet<>(rules.queues()),
                Objects.requireNonNullElse(rules.version(), "none"),
                rules.labels().isEmpty() ? "none" : rules.labels(),
                rules.lease(),
                rules.maxRuns());
        return joining;
    }

    @Override
    public void left() {
        dispatcher.madeRoom();
        limits.left();
        emptied.raise();
    }

    @Override
    public Dispatch.Version version() {
        return draining.version();
    }

    @Override
    public void forgot() {
        dispatcher.reconcile();
    }

    @Override
    public void acquired() {
        dispatcher.look();
    }

    public Session session() {
        return session;
    }

    /** Whether runs may begin in this session's memory: the worker has their definition and labels, and has room. */
    public boolean admits(Session home, List<NewRun> runs) {
        return runs.stream().allMatch(run -> suits(home, run)) && room(home) >= runs.size() && home.alive();
    }

    private boolean suits(Session home, NewRun run) {
        return registry.find(run.definition()).isPresent()
                && rules.queues().contains(run.queue())
                && !settings.store().queues().limits(run.queue())
                && (run.version() == null || run.version().equals(rules.version()))
                && (run.placement().isAnywhere() || run.placement().suits(rules.labels(home.id())));
    }

    @Override
    public int room(Session home) {
        return closing || dispatcher.isExclusive() || draining.isUnderWay()
                ? 0
                : Math.max(0, rules.maxRuns() - home.runs().size());
    }

    public void hint(Hints.Hint hint) {
        switch (hint) {
            case Hints.WorkReady ready -> dispatcher.look();
            case Hints.WorkerSignalled signalled -> {
                if (signalled.worker().equals(session.id())) {
                    dispatcher.look();
                }
            }
            case Hints.MailArrived mail -> {
                if (mail.worker().equals(session.id()) && !session.runs().mailed(mail)) {
                    dispatcher.look();
                }
            }
            case Hints.LeaseInDoubt doubt -> tick.raise();
            case Hints.RunEnded ended -> {}
            case Hints.RunShows shows -> {}
            case Hints.OutgoingKept kept -> {}
            case Hints.CallsWait wait -> {}
            case Hints.PartitionsMoved moved -> session.loseMoved();
        }
    }

    // ---- the lease

    private void keepLease() {
        long leaseNanos = rules.lease().toNanos();
        Backoff backoff = new Backoff(settings.clockwork());
        Outage outage = new Outage("keep the lease of its worker");
        while (!left) {
            try {
                renew();
                sweep();
                Session current = session;
                if (draining.look(current.id(), current.acquisitions())) {
                    dispatcher.look();
                }
                backoff.reset();
                outage.over();
                Waiting.housekeeping(tick, leaseNanos / RENEWALS_PER_LEASE);
            } catch (Throwable thrown) { // Any error: without this loop, the worker would do nothing and look alive.
                outage.noticed(thrown);
                endIfExpired();
                backoff.pause();
            }
        }
    }

    private void renew() {
        Session current = session;
        endIfExpired();
        long sent = settings.clockwork().nanoTime();
        Instant now = current.alive() ? settings.store().leases().renew(current.id(), Heap.now()) : null;
        if (now != null) {
            shared.clock().observe(now);
        }
        if (left) {
            return;
        }
        if (now != null) {
            settings.parts().follow(shared.part());
            current.loseMoved();
        }
        if (now != null && current.sessionLease().renewed(sent)) {
            settings.rules().measurements().renewed();
            return;
        }
        endIfExpired();
        int runs = current.runs().executions().size();
        if (current.end()) {
            LOG.warn(
                    "Worker {} was declared dead by another one. It drops {} runs, which continue elsewhere, and joins"
                            + " again.",
                    current.id(),
                    runs);
        }
        if (!closing) {
            session = join(Set.of(current.id()));
            expiry.raise();
        }
    }

    /** Waits only for the time, and so ends the session in time, whatever the store does. */
    private void endAtExpiry() {
        Backoff backoff = new Backoff(settings.clockwork());
        Outage outage = new Outage("end the lease of its worker in time");
        while (!left) {
            try {
                Waiting.housekeeping(expiry, session.sessionLease().nanosLeft());
                endIfExpired();
                backoff.reset();
                outage.over();
            } catch (Throwable thrown) { // Without this loop, a worker could write after its lease has ended.
                outage.noticed(thrown);
                backoff.pause();
            }
        }
    }

    private void endIfExpired() {
        Session current = session;
        int runs = current.runs().executions().size();
        if (!current.alive() && current.end()) {
            LOG.warn(
                    "The lease of worker {} ended because the store did not renew it in time. It drops {} runs, which"
                            + " continue elsewhere, and joins again.",
                    current.id(),
                    runs);
        }
    }

    private void sweep() {
        List<RunChange> swept;
        do {
            swept = settings.store().leases().sweep(SWEEP_BATCH);
            swept.forEach(shared.listeners()::tell);
            long ready = swept.stream()
                    .filter(change -> change.state() == RunState.READY)
                    .count();
            if (!swept.isEmpty()) {
                settings.rules().measurements().recovered(swept.size());
                LOG.info(
                        "Worker {} took over {} runs of dead workers; {} of them are ready to continue.",
                        session.id(),
                        swept.size(),
                        ready);
            }
            if (ready > 0) {
                dispatcher.look();
            }
            if (swept.size() == SWEEP_BATCH) {
                renew(); // However many runs the dead workers had, the lease of this one does not end meanwhile.
            }
        } while (swept.size() == SWEEP_BATCH);
    }

    // ---- closing

    /** Waits for bodies up to the limit while it renews the lease as usual, gives all runs back, and ends the lease. */
    public void close() {
        closing = true;
        dispatcher.close();
        retention.close();
        Session last = session;
        last.giveBack();
        LOG.info(
                "Worker {} is closing: it takes no more runs, and waits up to {} for the step bodies of {} runs.",
                last.id(),
                rules.closeTimeout(),
                last.runs().inBodies());
        boolean inTime = awaitEmpty(last);
        long interrupted = last.runs().inBodies();
        leave(last);
        if (inTime) {
            LOG.info("Worker {} is closed; its runs have ended or were given back.", last.id());
        } else {
            LOG.warn(
                    "Worker {} is closed after {}, although the step bodies of {} runs had not ended. It interrupted them"
                            + " and gave their runs back, so these bodies run again elsewhere.",
                    last.id(),
                    rules.closeTimeout(),
                    interrupted);
        }
        left = true;
        tick.raise();
        last.end();
        expiry.raise();
    }

    /** Gives the remaining runs back and ends the lease. If the store takes too long, the lease ends by itself. */
    private void leave(Session last) {
        Clockwork clockwork = settings.clockwork();
        Clockwork.Signal done = clockwork.signal();
        clockwork.fork("perdure-leave", () -> {
            try {
                last.store().reports().write(); // while the worker still holds the runs
                giveBackNow(last);
                left = true;
                settings.store().leases().leave(last.id());
            } catch (RuntimeException outOfReach) {
                LOG.debug("Could not end the lease; it will end by itself.", outOfReach);
            } finally {
                done.raise();
            }
        });
        if (!Waiting.housekeeping(done, LEAVE_NANOS)) {
            LOG.warn(
                    "The store did not answer in time when this worker closed. Its lease ends by itself, {} after the last renewal.",
                    rules.lease());
        }
    }

    /** All at once, so that they share commits. */
    private void giveBackNow(Session last) {
        List<Execution> running = List.copyOf(last.runs().executions());
        Clockwork.Signal all = settings.clockwork().signal();
        AtomicInteger open = new AtomicInteger(running.size());
        for (Execution execution : running) {
            settings.clockwork().fork("perdure-give-back-" + execution.ref().id(), () -> {
                try {
                    execution.giveBackNow();
                } finally {
                    if (open.decrementAndGet() == 0) {
                        all.raise();
                    }
                }
            });
        }
        if (!running.isEmpty()) {
            Waiting.forSignal(all);
        }
    }

    /** Stops as if the process had been killed: writes nothing more and gives nothing back. For tests of recovery. */
    public void crash() {
        closing = true;
        left = true;
        dispatcher.close();
        retention.close();
        session.end();
        tick.raise();
        expiry.raise();
    }

    private boolean awaitEmpty(Session last) {
        AtomicBoolean late = new AtomicBoolean();
        Runnable alarmOff = settings.clockwork().alarm(rules.closeTimeout(), () -> {
            late.set(true);
            emptied.raise();
        });
        while (!isEmpty(last) && !late.get()) {
            Waiting.forSignal(emptied);
        }
        alarmOff.run();
        return isEmpty(last);
    }

    /**
     * Asks the dispatcher first, because a claimed run comes into memory before the dispatcher reports that it is done.
     */
    private boolean isEmpty(Session last) {
        return !dispatcher.isTaking() && last.runs().isEmpty();
    }

    /** Whether this worker holds the run with this id. */
    public boolean isHere(RunRef run) {
        return session.runs().holds(run);
    }
}
