package dev.perdure.testing.internal.simulation;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
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
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.status.StoreStatus;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store as one process sees it, across a network that delays, loses and repeats.
 *
 * <p>How it works. A call takes a random time to the store and another one back, and other calls run meanwhile. The
 * store applies a call atomically. The seed chooses the faults of a call. A proxy forwards the roles that only read, so
 * a new method of such a role is simulated without a change here. A new method of another role does not compile without
 * a change here.
 */
final class SimulatedStore implements Store {
    private static final long MOST_SLOW = World.leases(1.2);
    private static final long MOST_FROZEN = World.leases(3);
    private static final long MOST_LATE = World.leases(2);
    private static final long MOST_LATENCY = Duration.ofMillis(3).toNanos();

    private final Store real;
    private final SimulatedProcess process;
    private final Scheduler scheduler;
    private final Choices choices;
    private final Network network;
    private final Deaths deaths;
    private final HintLine hints;
    private final Journals journals;
    private final Mailboxes mailboxes;
    private final States states;
    private final Runs runs;
    private long missingUntil;
    private boolean joined;

    /** What a process learns about its own end. */
    interface Deaths {
        /** Whether this process can die and stand still. The process of the test cannot. */
        boolean mayDie();

        /** The worker closes in an orderly way soon. */
        void close();
    }

    SimulatedStore(Store real, SimulatedProcess process, Scheduler scheduler, Network network, Deaths deaths) {
        this.real = real;
        this.process = process;
        this.scheduler = scheduler;
        this.choices = scheduler.choices();
        this.network = network;
        this.deaths = deaths;
        this.hints = new HintLine(process, scheduler, network);
        this.journals = reading(Journals.class, real.journals());
        this.mailboxes = reading(Mailboxes.class, real.mailboxes());
        this.states = reading(States.class, real.states());
        this.runs = reading(Runs.class, real.runs());
    }

    private void tell(Supplier<String> text) {
        scheduler.timeline().add(scheduler, process.name(), text);
    }

    /** A call to the store, to which faults can happen. */
    private record Call(Supplier<String> name, int seldom, List<Change> changes) {
        static Call important(Supplier<String> name) {
            return new Call(name, 1, List.of());
        }

        static Call commit(List<Change> changes) {
            return new Call(() -> "commit of " + Wording.of(changes), 1, changes);
        }

        static Call reading(String name) {
            return new Call(() -> name, 2, List.of());
        }

        /** A frequent call that mostly changes nothing. */
        static Call housekeeping(String name) {
            return new Call(() -> name, 12, List.of());
        }
    }

    private boolean happens(Fault fault, Call call) {
        if (!choices.happens(fault, call.seldom(), call.changes())) {
            return false;
        }
        scheduler.trouble();
        network.hit(fault, call.changes());
        tell(() -> "*** %s: %s".formatted(call.name().get(), fault.words()));
        return true;
    }

    private static StoreException unavailable(String why) {
        return new StoreException(StoreException.Kind.UNAVAILABLE, why, null);
    }

    /** One trip through the network: often so quick that nothing else happens meanwhile. */
    private void travel() {
        switch (choices.pick(3)) {
            case 0 -> {}
            case 1 -> scheduler.pause(choices.between(1, MOST_LATENCY) / 10);
            default -> scheduler.pause(choices.between(1, MOST_LATENCY));
        }
    }

    private void misfortunes(Fault death, Call call) {
        if (deaths.mayDie()) {
            if (happens(death, call)) {
                scheduler.kill(process);
            }
            if (happens(Fault.FROZEN, call)) {
                process.freeze(choices.between(1, MOST_FROZEN));
                scheduler.giveWay();
                scheduler.trouble();
            }
            if (happens(Fault.CLOSED, call)) {
                deaths.close();
            }
        }
        if (happens(Fault.SLOW, call)) {
            scheduler.pause(choices.between(1, MOST_SLOW));
        }
    }

    /**
     * If the process dies in a call, its engine first sees a store that is out of reach, and ends without logging
     * anything.
     */
    private <T extends @Nullable Object> T whileAlive(Supplier<T> call) {
        try {
            return call.get();
        } catch (Killed died) {
            if (scheduler.mayEndQuietly()) {
                throw unavailable("The process has died in the simulation.");
            }
            throw died;
        }
    }

    /** A call that only reads. It may be slow, and it may fail where the engine is known to ask again. */
    private <T extends @Nullable Object> T read(String name, Supplier<T> call) {
        return whileAlive(() -> readThrough(name, call));
    }

    private <T extends @Nullable Object> T readThrough(String name, Supplier<T> call) {
        travel();
        if (deaths.mayDie()) {
            Call reading = Call.housekeeping(name);
            misfortunes(Fault.KILLED_BEFORE, reading);
            if (happens(Fault.ANSWER_LOST, reading)) {
                throw unavailable("The simulation lost the answer to " + name + ".");
            }
            if (happens(Fault.READ_REFUSED, Call.reading(name))) {
                throw new StoreException(
                        StoreException.Kind.UNUSABLE,
                        "The simulation does not let " + name + " be read (42501).",
                        null);
            }
        }
        T answer = call.get();
        if (!isNothing(answer)) {
            travel();
        }
        return answer;
    }

    /** Whether the store has nothing to tell. Such an answer takes no time, as with housekeeping. */
    private static boolean isNothing(@Nullable Object answer) {
        return switch (answer) {
            case null -> true;
            case Optional<?> optional -> optional.isEmpty();
            case Collection<?> all -> all.isEmpty();
            case Map<?, ?> all -> all.isEmpty();
            default -> false;
        };
    }

    /** A call that changes something. */
    private <T extends @Nullable Object> T write(Call name, Supplier<T> call, Supplier<T> lateCall) {
        return whileAlive(() -> writeThrough(name, call, lateCall, answer -> true));
    }

    /**
     * Housekeeping, which mostly finds nothing to do.
     *
     * @param news whether an answer has something that the caller acts on. An answer that has not takes no time,
     *     because nothing depends on what happens while it is on its way
     */
    private <T extends @Nullable Object> T keepHouse(
            String name, Supplier<T> call, Supplier<T> late, Predicate<T> news) {
        return whileAlive(() -> writeThrough(Call.housekeeping(name), call, late, news));
    }

    private <T extends @Nullable Object> T writeThrough(
            Call name, Supplier<T> call, Supplier<T> lateCall, Predicate<T> news) {
        travel();
        misfortunes(Fault.KILLED_BEFORE, name);
        if (happens(Fault.REFUSED, name)) {
            throw unavailable("The simulation refused it (40001).");
        }
        if (happens(Fault.LATE, name)) {
            long delay = choices.between(1, MOST_LATE);
            network.delayed();
            scheduler.fork(scheduler.outside(), "late call of " + process.name(), () -> {
                scheduler.pause(delay);
                T unused = lateCall.get();
                network.arrived();
            });
            scheduler.pause(choices.between(1, MOST_LATE));
            scheduler.trouble();
            throw unavailable("The simulation let the caller give up.");
        }
        T answer = call.get();
        misfortunes(Fault.KILLED_AFTER, name);
        if (happens(Fault.ANSWER_LOST, name)) {
            throw unavailable("The simulation lost the answer.");
        }
        if (news.test(answer)) {
            travel();
        }
        return answer;
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
                && happens(Fault.RENEWAL_MISSED, Call.commit(changes))) {
            missingUntil = scheduler.now() + choices.between(1, MOST_FROZEN);
        } else if (scheduler.now() < missingUntil) {
            network.hit(Fault.RENEWAL_MISSED, changes);
        }
        Supplier<List<Outcome>> apply = () -> {
            List<Outcome> outcomes = hinting(lane, changes);
            tell(() -> Wording.of(changes) + " -> " + Wording.ofOutcomes(outcomes));
            scheduler.active();
            return outcomes;
        };
        return write(Call.commit(changes), apply, () -> network.isLast(sender, use) ? apply.get() : List.of());
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
                tell(() -> Wording.of(polled));
                scheduler.active();
            }
            return polled;
        };
        return keepHouse(
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

    @Override
    public Leases leases() {
        Leases leases = real.leases();
        return new Leases() {
            @Override
            public Instant join(Joining worker) {
                joined = true;
                network.joins(worker.id(), process);
                return write(
                        Call.housekeeping("join"),
                        () -> {
                            tell(() -> "joins");
                            return leases.join(worker);
                        },
                        () -> leases.join(worker));
            }

            @Override
            public @Nullable Instant renew(WorkerId worker) {
                if (happens(Fault.RENEWAL_MISSED, Call.important(() -> "renewal"))) {
                    missingUntil = scheduler.now() + choices.between(1, MOST_FROZEN);
                }
                if (scheduler.now() < missingUntil) {
                    scheduler.trouble();
                    travel();
                    throw unavailable("The simulation did not let the renewal through.");
                }
                Supplier<@Nullable Instant> renew = () -> leases.renew(worker);
                return SimulatedStore.this.<@Nullable Instant>keepHouse("renewal", renew, renew, Objects::isNull);
            }

            @Override
            public List<RunChange> sweep(int limit) {
                Supplier<List<RunChange>> sweep = () -> {
                    List<RunChange> swept = leases.sweep(limit);
                    if (!swept.isEmpty()) {
                        scheduler.active();
                        tell(() -> "sweeps "
                                + swept.stream()
                                        .map(change -> "'" + change.runId() + "' " + change.state())
                                        .toList());
                    }
                    return swept;
                };
                return keepHouse("sweep", sweep, sweep, swept -> !swept.isEmpty());
            }

            @Override
            public List<Owned> owned(WorkerId worker) {
                return read("owned", () -> leases.owned(worker));
            }

            @Override
            public void leave(WorkerId worker) {
                Supplier<Boolean> leave = () -> {
                    leases.leave(worker);
                    tell(() -> "leaves");
                    return true;
                };
                write(Call.housekeeping("leave"), leave, leave);
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

    /** A request that arrives late takes nothing that the run does not hold or wait for. */
    @Override
    public Permits permits() {
        Permits permits = real.permits();
        return new Permits() {
            @Override
            public List<Answer> take(WorkerId worker, List<Request> requests) {
                Supplier<List<Answer>> take = () -> permits.take(worker, requests);
                return write(Call.important(() -> "take of permits"), take, take);
            }

            @Override
            public void next(Set<String> limiters) {
                Supplier<Boolean> next = () -> {
                    permits.next(limiters);
                    return true;
                };
                boolean unused = write(Call.housekeeping("next permits"), next, next);
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
                        tell(() -> "removes " + removed.runs() + " runs");
                    }
                    return removed;
                };
                return keepHouse("remove", remove, remove, removed -> removed.runs() > 0);
            }

            @Override
            public Outcome delete(RunId run, Audit audit) {
                return removals.delete(run, audit);
            }
        };
    }

    @Override
    public Runs runs() {
        return runs;
    }

    private <R> R reading(Class<R> role, R target) {
        return role.cast(Proxy.newProxyInstance(
                role.getClassLoader(), new Class<?>[] {role}, (proxy, method, arguments) -> {
                    return this.<@Nullable Object>read(role.getSimpleName() + "." + method.getName(), () -> {
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
