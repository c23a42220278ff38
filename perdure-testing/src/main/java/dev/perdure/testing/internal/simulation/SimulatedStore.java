package dev.perdure.testing.internal.simulation;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import dev.perdure.testing.internal.simulation.FaultyCalls.Call;
import dev.perdure.version.WorkerInfo.Heap;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store as one process sees it, through {@link FaultyCalls}.
 *
 * <p>How it works. The store applies a call atomically. A proxy forwards the roles that only read, and those whose requests
 * may be repeated at any time, so a new method of such a role is simulated without a change here. A new method of another role does not compile without a change here.
 */
final class SimulatedStore implements Store {
    private final Store real;
    private final SimulatedProcess process;
    private final Scheduler scheduler;
    private final Choices choices;
    private final Network network;
    private final FaultyCalls calls;
    private final HintLine hints;
    private final Journals journals;
    private final Mailboxes mailboxes;
    private final States states;
    private final Runs runs;
    private final Statistics statistics;
    private final Payloads payloads;
    private final StoredValues values;
    private final VersionRules versions;
    private long missingUntil;
    private boolean joined;

    SimulatedStore(
            Store real, SimulatedProcess process, Scheduler scheduler, Network network, FaultyCalls.Deaths deaths) {
        this.real = real;
        this.process = process;
        this.scheduler = scheduler;
        this.choices = scheduler.choices();
        this.network = network;
        this.calls = new FaultyCalls(process, scheduler, network, deaths);
        this.hints = new HintLine(process, scheduler, network);
        this.journals = reading(Journals.class, real.journals());
        this.mailboxes = reading(Mailboxes.class, real.mailboxes());
        this.states = reading(States.class, real.states());
        this.runs = reading(Runs.class, real.runs());
        this.statistics = reading(Statistics.class, real.statistics());
        this.payloads = reading(Payloads.class, real.payloads());
        this.values = reading(StoredValues.class, real.values());
        this.versions = reading(VersionRules.class, real.versions());
    }

    @Override
    public Ledger ledger() {
        return this::apply;
    }

    private List<Outcome> apply(Lane lane, List<Change> changes) {
        Object sender = Network.sender(process, lane, changes);
        long use = network.use(sender);
        scheduler.active();
        if (process.isClockWrong()) {
            network.hit(Fault.CLOCK, changes);
        }
        if (joined
                && choices.isAimed(Fault.RENEWAL_MISSED, changes)
                && calls.happens(Fault.RENEWAL_MISSED, Call.commit(changes))) {
            missingUntil = scheduler.now() + choices.between(1, FaultyCalls.MOST_FROZEN);
        } else if (scheduler.now() < missingUntil) {
            network.hit(Fault.RENEWAL_MISSED, changes);
        }
        Supplier<List<Outcome>> apply = () -> {
            List<Outcome> outcomes = hinting(lane, changes);
            calls.tell(() -> Wording.of(changes) + " -> " + Wording.ofOutcomes(outcomes));
            scheduler.active();
            return outcomes;
        };
        return calls.write(Call.commit(changes), apply, () -> network.isLast(sender, use) ? apply.get() : List.of());
    }

    /** The hints that the store sends meanwhile come from these changes. */
    private List<Outcome> hinting(Lane lane, List<Change> changes) {
        Task me = scheduler.waiter();
        me.commits = changes;
        try {
            return real.ledger().apply(lane, changes);
        } finally {
            me.commits = List.of();
        }
    }

    @Override
    public Dispatch dispatch() {
        return this::poll;
    }

    private Dispatch.Polled poll(Dispatch.Poll request) {
        long use = network.use(request.worker());
        Supplier<Dispatch.Polled> poll = () -> {
            Dispatch.Polled polled = real.dispatch().poll(narrowed(request));
            if (hasNews(polled)) {
                calls.tell(() -> Wording.of(polled));
                scheduler.active();
            }
            return polled;
        };
        return calls.keepHouse(
                "poll",
                poll,
                () -> network.isLast(request.worker(), use)
                        ? poll.get()
                        : new Dispatch.Polled(List.of(), List.of(), null, false),
                SimulatedStore::hasNews);
    }

    private static boolean hasNews(Dispatch.Polled polled) {
        return !polled.claimed().isEmpty() || !polled.signalled().isEmpty();
    }

    /** A claim skips rows that another transaction has locked, so it may take any of the ready runs. */
    private Dispatch.Poll narrowed(Dispatch.Poll request) {
        if (request.limit() == 0 || !choices.happens(Fault.SKIPPED)) {
            return request;
        }
        scheduler.trouble();
        Set<String> definitions = new TreeSet<>(request.definitions());
        definitions.removeIf(unused -> choices.oneIn(2));
        return request.of(definitions)
                .forAtMost((int) choices.between(1, Math.min(3, request.limit())), request.aloneToo());
    }

    /** The store has not seen connections of the process for a while, and ends the lease soon. */
    private void takeForDead(WorkerId worker) {
        long delay = choices.between(1, World.leases(0.5));
        scheduler.fork(scheduler.outside(), "look after " + process.name(), () -> {
            scheduler.pause(delay);
            scheduler.trouble();
            process.takenForDead();
            real.leases().leave(worker);
            calls.tell(() -> "is taken for dead");
            if (choices.oneIn(2)) { // a process that cannot listen hears nothing
                hints.arrive(new Hints.LeaseInDoubt());
            }
        });
    }

    @Override
    public Leases leases() {
        Leases leases = real.leases();
        return new Leases() {
            @Override
            public Instant join(Joining worker) {
                joined = true;
                network.joins(worker.id(), process);
                return calls.write(
                        Call.housekeeping("join"),
                        () -> {
                            calls.tell(() -> "joins");
                            return leases.join(worker);
                        },
                        () -> leases.join(worker));
            }

            @Override
            public @Nullable Instant renew(WorkerId worker, Heap heap) {
                if (calls.happens(Fault.RENEWAL_MISSED, Call.important(() -> "renewal"))) {
                    missingUntil = scheduler.now() + choices.between(1, FaultyCalls.MOST_FROZEN);
                }
                if (calls.happens(Fault.TAKEN_FOR_DEAD, Call.important(() -> "connections"))) {
                    takeForDead(worker);
                }
                if (scheduler.now() < missingUntil) {
                    scheduler.trouble();
                    calls.travel();
                    throw FaultyCalls.unavailable("The simulation did not let the renewal through.");
                }
                Supplier<@Nullable Instant> renew = () -> leases.renew(worker, heap);
                return calls.<@Nullable Instant>keepHouse("renewal", renew, renew, Objects::isNull);
            }

            @Override
            public List<RunChange> sweep(int limit) {
                Supplier<List<RunChange>> sweep = () -> {
                    List<RunChange> swept = leases.sweep(limit);
                    if (!swept.isEmpty()) {
                        scheduler.active();
                        calls.tell(() -> "sweeps "
                                + swept.stream()
                                        .map(change -> "'" + change.runId() + "' " + change.state())
                                        .toList());
                    }
                    return swept;
                };
                return calls.keepHouse("sweep", sweep, sweep, swept -> !swept.isEmpty());
            }

            @Override
            public List<Owned> owned(WorkerId worker) {
                return calls.read("owned", () -> leases.owned(worker));
            }

            @Override
            public void leave(WorkerId worker) {
                Supplier<Boolean> leave = () -> {
                    leases.leave(worker);
                    calls.tell(() -> "leaves");
                    return true;
                };
                calls.write(Call.housekeeping("leave"), leave, leave);
            }
        };
    }

    @Override
    public Journals journals() {
        return journals;
    }

    @Override
    public Mailboxes mailboxes() {
        return mailboxes;
    }

    @Override
    public States states() {
        return states;
    }

    /**
     * The engine asks in memory which queues have limits, so that needs no network. No simulated program changes a
     * queue.
     */
    @Override
    public QueueRules queues() {
        return real.queues();
    }

    /** Engines declare them when they start, before anything fails. */
    @Override
    public ReactionRules reactions() {
        return real.reactions();
    }

    /** A request that arrives late takes nothing that the run does not hold or wait for. */
    @Override
    public Permits permits() {
        Permits permits = real.permits();
        return new Permits() {
            @Override
            public List<Answer> take(WorkerId worker, List<Request> requests) {
                Supplier<List<Answer>> take = () -> permits.take(worker, requests);
                return calls.write(Call.important(() -> "take of permits"), take, take);
            }

            @Override
            public void next(Set<String> limiters) {
                Supplier<Boolean> next = () -> {
                    permits.next(limiters);
                    return true;
                };
                boolean unused = calls.write(Call.housekeeping("next permits"), next, next);
            }

            @Override
            public void declare(Collection<Limiter> limiters) {
                permits.declare(limiters);
            }

            @Override
            public boolean apply(Order order, @Nullable Audit audit) {
                return permits.apply(order, audit);
            }

            @Override
            public List<LimiterInfo> list() {
                return permits.list();
            }

            @Override
            public Optional<LimiterInfo> find(String limiter) {
                return permits.find(limiter);
            }
        };
    }

    /** A report that arrives late is older than what the store has, or its worker or run has changed. */
    @Override
    public Reports reports() {
        Reports reports = real.reports();
        return new Reports() {
            @Override
            public void write(WorkerId worker, List<Report> batch) {
                Supplier<Boolean> write = () -> {
                    reports.write(worker, batch);
                    return true;
                };
                boolean unused = calls.write(Call.housekeeping("reports"), write, write);
            }

            @Override
            public Optional<Reported> find(RunRef run, int position) {
                return calls.read("Reports.find", () -> reports.find(run, position));
            }

            @Override
            public void log(WorkerId worker, List<Line> lines) {
                Supplier<Boolean> write = () -> {
                    reports.log(worker, lines);
                    return true;
                };
                boolean unused = calls.write(Call.housekeeping("log lines"), write, write);
            }

            @Override
            public LogPage log(RunRef run, LogFilter filter) {
                return calls.read("Reports.log", () -> reports.log(run, filter));
            }

            @Override
            public List<Reported> open(RunRef run) {
                return calls.read("Reports.open", () -> reports.open(run));
            }
        };
    }

    @Override
    public VersionRules versions() {
        return versions;
    }

    @Override
    public Statistics statistics() {
        return statistics;
    }

    /** A batch that arrives late removes only what is due then. */
    @Override
    public Removals removals() {
        Removals removals = real.removals();
        return new Removals() {
            @Override
            public void declare(Retention retention) {
                removals.declare(retention);
            }

            @Override
            public void change(@Nullable Retention retention, @Nullable Audit audit) {
                removals.change(retention, audit);
            }

            @Override
            public RetentionInfo info() {
                return removals.info();
            }

            @Override
            public Removed remove(int limit) {
                Supplier<Removed> remove = () -> {
                    Removed removed = removals.remove(limit);
                    if (removed.runs() > 0) {
                        calls.tell(() -> "removes " + removed.runs() + " runs");
                    }
                    return removed;
                };
                return calls.keepHouse("remove", remove, remove, removed -> removed.runs() > 0);
            }

            @Override
            public Outcome delete(RunId run, Change.Seen seen, Audit audit) {
                Supplier<Outcome> delete = () -> removals.delete(run, seen, audit);
                return calls.write(Call.important(() -> "delete of " + run), delete, delete);
            }
        };
    }

    @Override
    public Payloads payloads() {
        return payloads;
    }

    @Override
    public StoredValues values() {
        return values;
    }

    @Override
    public Runs runs() {
        return runs;
    }

    private <R> R reading(Class<R> role, R target) {
        return role.cast(Proxy.newProxyInstance(
                role.getClassLoader(), new Class<?>[] {role}, (proxy, method, arguments) -> {
                    return calls.<@Nullable Object>read(role.getSimpleName() + "." + method.getName(), () -> {
                        try {
                            return method.invoke(target, arguments);
                        } catch (InvocationTargetException thrown) {
                            if (thrown.getCause() instanceof RuntimeException cause) {
                                throw cause;
                            }
                            throw new IllegalStateException(thrown.getCause());
                        } catch (IllegalAccessException closed) {
                            throw new IllegalStateException(closed);
                        }
                    });
                }));
    }

    @Override
    public StoreStatus status() {
        return real.status();
    }

    @Override
    public StoreHealth health() {
        return real.health();
    }

    @Override
    public Hints hints() {
        return listener -> {
            Hints.Subscription subscription = real.hints().subscribe(hints::arrive);
            hints.open(listener);
            return subscription;
        };
    }

    @Override
    public int lanes() {
        return real.lanes();
    }

    @Override
    public void close() {}
}
