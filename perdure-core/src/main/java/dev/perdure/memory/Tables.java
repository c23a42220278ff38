package dev.perdure.memory;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Lifecycle;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Runs.Entered;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows, the ready queue and the timers, with the changes of state that several roles make.
 *
 * <p>How it works: one lock takes the place of a database's transactions. What a role does inside
 * {@link #inTransaction} is atomic and visible to all. Hints are collected meanwhile and sent when the lock is free
 * again, as a database notifies after the commit.
 */
final class Tables {
    /** A worker that has joined and has not been swept. */
    static final class Worker {
        final Joining joining;
        long leaseEnds;

        @Nullable
        Heap heap;
        /** What it reports to take no more. */
        Set<String> drains = Set.of();

        Worker(Joining joining) {
            this.joining = joining;
        }

        /** Whether it takes runs from this queue. */
        boolean serves(String queue) {
            return joining.serves(queue);
        }

        /** Whether it has the run's definition, in the run's version. */
        boolean suits(Row row) {
            return joining.definitions().contains(row.start.definition())
                    && (row.start.version() == null || row.start.version().equals(joining.version()));
        }

        /** Whether it takes no runs of this definition but those that are pinned to its version. */
        boolean drains(String definition) {
            return drains.contains(VersionRules.ALL) || drains.contains(definition);
        }

        /** Whether a run may be handed over to it. A run with a placement begins only where labels are checked. */
        boolean takesOver(Row row) {
            return suits(row) && row.start.placement().isAnywhere();
        }
    }

    private static final Comparator<Row> BY_PRIORITY_AND_AGE =
            Comparator.comparingInt((Row row) -> row.rank).thenComparingLong(row -> row.readySince);
    private static final Comparator<Row> BY_DUE_TIME =
            Comparator.comparing(Tables::dueOf).thenComparingLong(row -> row.ref.key());

    final Map<RunId, Row> byId = new HashMap<>();
    final Map<Long, Row> byKey = new LinkedHashMap<>();
    final NavigableSet<Row> ready = new TreeSet<>(BY_PRIORITY_AND_AGE);
    final NavigableSet<Row> timers = new TreeSet<>(BY_DUE_TIME);
    /** Runs that have to begin before a time. A run that has begun or ended stays in the list until then. */
    final NavigableSet<Row> startLimits =
            new TreeSet<>(Comparator.comparing((Row row) -> Objects.requireNonNull(row.startBy))
                    .thenComparingLong(row -> row.ref.key()));

    final Map<WorkerId, Worker> workers = new HashMap<>();
    final MemoryAudits audits = new MemoryAudits(this::now);
    /** Runs that were taken from workers whose lease had ended, with the number of their entries at that time. */
    private final Map<WorkerId, Map<Row, TakeOver>> takeovers = new HashMap<>();
    /** Workers whose process has joined again under another id. */
    private final Set<WorkerId> returned = new HashSet<>();

    final MailDelivery post;
    final MemoryObjects objects = new MemoryObjects(this);
    final DependentRuns dags = new DependentRuns(this);
    final MemoryQueues queues = new MemoryQueues(this);
    final WaitReasons waitReasons = new WaitReasons(this, queues);
    final MemoryPermits permits = new MemoryPermits(this);
    final MemoryVersions versions = new MemoryVersions(this);
    final MemoryReports reports = new MemoryReports(this);
    final MemoryReactions reactions = new MemoryReactions(this);
    final MemoryExchange exchange = new MemoryExchange(this);
    final MemoryPlaces places = new MemoryPlaces(this);
    private Consumer<Change.Start> starter = start -> {};

    private final Clockwork clockwork;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Hints.Listener> listeners = new CopyOnWriteArrayList<>();
    private final List<Hints.Hint> pendingHints = new ArrayList<>();
    private long sequence;
    private long transactions;

    Tables(Clockwork clockwork) {
        this.clockwork = clockwork;
        this.post = new MailDelivery(this, clockwork);
    }

    /**
     * Until when only workers that a ready run prefers may take it: in the past if it prefers none, or if there are
     * none.
     */
    Instant prefersUntil(Row row) {
        Placement placement = row.start.placement();
        boolean waits = !placement.preferred().isEmpty()
                && workers.values().stream().anyMatch(worker -> placement.suits(worker.joining.labels()));
        return waits ? row.changedAt.plus(Placement.PREFERENCE) : Instant.MIN;
    }

    private static Instant dueOf(Row row) {
        if (row.wakeAt == null) {
            throw new IllegalStateException("Run " + row.ref.id() + " has no timer.");
        }
        return row.wakeAt;
    }

    /** Differs after every transaction, also after those that only read. */
    String mark() {
        return String.valueOf(transactions);
    }

    <T extends @Nullable Object> T inTransaction(Supplier<T> work) {
        T result;
        List<Hints.Hint> hints;
        lock.lock();
        try {
            transactions++;
            result = work.get();
            reactions.start(starter);
            hints = List.copyOf(pendingHints);
            pendingHints.clear();
        } finally {
            lock.unlock();
        }
        for (Hints.Hint hint : hints) {
            listeners.forEach(listener -> listener.hint(hint));
        }
        return result;
    }

    /** Tells how the runs of reactions are started. */
    void startWith(Consumer<Change.Start> ledger) {
        starter = ledger;
    }

    Hints.Subscription subscribe(Hints.Listener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    Instant now() {
        return clockwork.now();
    }

    long nanoTime() {
        return clockwork.nanoTime();
    }

    long nextNumber() {
        return ++sequence;
    }

    void hint(Hints.Hint hint) {
        if (!pendingHints.contains(hint)) {
            pendingHints.add(hint);
        }
    }

    /** A new row, which has not entered its first state yet. */
    Row add(NewRun run) {
        RunRef ref = new RunRef(run.id(), nextNumber() * Partitions.COUNT + Partitions.of(run.id()));
        Row row = new Row(ref, exchange.linked(run, ref.key()), now());
        byId.put(run.id(), row);
        byKey.put(row.ref.key(), row);
        return row;
    }

    /** Makes a new row expire if it does not begin in time. */
    void limit(Row row) {
        Duration within = row.start.admission().startWithin();
        if (within != null && !row.hasBegun()) {
            Instant begins = row.start.delay() == null ? row.createdAt : row.createdAt.plus(row.start.delay());
            row.startBy = begins.plus(within);
            startLimits.add(row);
        }
    }

    /** The only place where a row changes its state, with all consequences. */
    RunChange change(Row row, RunState to, @Nullable String reason) {
        Lifecycle.move(row.state, to);
        leave(row);
        row.state = to;
        row.reason = reason;
        row.changedAt = now();
        row.changes++;
        return entered(row, reason);
    }

    /** A new row enters its first state. */
    RunChange entered(Row row, @Nullable String reason) {
        switch (row.state) {
            case READY -> {
                row.readySince = nextNumber();
                row.rank = rankOf(row);
                ready.add(row);
                hint(new Hints.WorkReady());
            }
            case SUSPENDED, BACKING_OFF -> {
                if (row.wakeAt != null) {
                    timers.add(row);
                    hint(new Hints.WorkReady());
                }
            }
            case COMPLETED, FAILED, CANCELLED, SKIPPED -> {
                hint(new Hints.RunEnded(row.ref.id()));
                post.ended(row);
                objects.ended(row);
                dags.ended(row);
            }
            case PENDING, RUNNING, PAUSED -> {}
        }
        reactions.entered(row, reason);
        row.entered.add(new Entered(row.state, row.changedAt, Objects.requireNonNullElse(reason, "")));
        return new RunChange(row.ref.id(), row.start.definition(), row.state, Optional.ofNullable(reason));
    }

    private static int rankOf(Row row) {
        return row.isCancelled() ? Integer.MIN_VALUE : ~row.start.priority();
    }

    /** Moves a ready run that was asked to cancel before all others. */
    void urge(Row row) {
        if (ready.remove(row)) {
            row.rank = rankOf(row);
            ready.add(row);
            hint(new Hints.WorkReady());
        }
    }

    private void leave(Row row) {
        switch (row.state) {
            case READY -> ready.remove(row);
            case SUSPENDED, BACKING_OFF -> {
                if (row.wakeAt != null) {
                    timers.remove(row);
                }
                row.wakeAt = null;
                row.awaited = Set.of();
                row.limiters = Set.of();
            }
            case RUNNING -> row.owner = null;
            case PENDING, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED -> {}
        }
    }

    /** Describes what a run waits for and has not got: at most ten things, those with a name first. */
    List<String> awaitedOf(Row row) {
        Map<Integer, RunId> children = new HashMap<>();
        for (Row child : byKey.values()) {
            Parent parent = child.start.parent();
            if (parent != null && parent.run().equals(row.ref) && !child.state.isTerminal()) {
                children.put(parent.position(), child.ref.id());
            }
        }
        Stream<String> mail = row.awaited.stream()
                .filter(channel -> !channel.once() || row.mailbox.at(channel).isEmpty())
                .sorted(Comparator.comparingInt(Channel::position)
                        .thenComparing(Channel::kind)
                        .thenComparing(Channel::name))
                .map(channel -> switch (channel.kind()) {
                    case MESSAGE -> Optional.of("message '" + channel.name() + "'");
                    case PROMISE -> Optional.of("promise '" + channel.name() + "'");
                    case ANSWER ->
                        Optional.ofNullable(children.get(channel.position()))
                                .or(() -> startedAt(row, channel.position()))
                                .map(child -> "run '" + child + "'")
                                .or(() -> post.answerTo(new Address(row.ref.id(), channel.position(), row.restarts)));
                })
                .flatMap(Optional::stream);
        return Stream.concat(row.limiters.stream().sorted().map(limiter -> "permit of limiter '" + limiter + "'"), mail)
                .limit(10)
                .toList();
    }

    /** The run that the call at a position has started, on whatever shard. */
    private static Optional<RunId> startedAt(Row row, int position) {
        return row.journal.subMap(new Row.Place(position, 0), new Row.Place(position + 1, 0)).values().stream()
                .flatMap(recorded -> recorded.entry().started().stream())
                .findFirst();
    }

    /** Fails a pending run that will never have its turn. */
    void fail(Row row, String reason) {
        row.outcome = Payload.EMPTY;
        change(row, RunState.FAILED, reason);
    }

    void take(Row row, WorkerId worker) {
        change(row, RunState.RUNNING, null);
        row.owner = worker;
        row.epoch++;
        row.ask(asked -> new Control(0, asked.mails(), asked.cancel(), asked.kill(), asked.pause()));
    }

    /** What every new life of a run begins with: no journal, and no awakeables or subscriptions of the old life. */
    void renew(Row row) {
        row.journal.clear();
        row.entriesAtRecovery = 0;
        row.recoveries = 0;
        row.restarts++;
        row.fence();
        post.forget(row.ref.id());
        post.forgetTokens(row.ref.id());
        byKey.values().stream()
                .filter(child -> child.start.parent() != null
                        && child.start.parent().run().equals(row.ref)
                        && !child.start.parent().isReport()
                        && !child.isTask())
                .forEach(child -> child.start = child.start.withParent(null));
    }

    /**
     * Takes a run from a worker whose lease has ended. That counts as a recovery, unless the worker's process joins
     * again.
     */
    RunChange takeOver(Row row) {
        WorkerId worker = Objects.requireNonNull(row.owner);
        RunChange change = recover(row, "the lease of its worker " + worker + " ended");
        takeovers
                .computeIfAbsent(worker, unseen -> new HashMap<>())
                .put(row, new TakeOver(row.restarts, row.entriesAtRecovery));
        if (returned.contains(worker)) {
            takeBack(worker);
        }
        return change;
    }

    /**
     * The process of a worker has joined again under another id: runs that were taken from it do not count as
     * recovered.
     */
    void takeBack(WorkerId worker) {
        returned.add(worker);
        Map<Row, TakeOver> taken = takeovers.remove(worker);
        if (taken != null) {
            taken.forEach((row, counted) -> {
                if (counted.equals(new TakeOver(row.restarts, row.entriesAtRecovery)) && row.recoveries > 0) {
                    row.recoveries--;
                }
            });
        }
    }

    /** Counts the recoveries of a run from zero again. Earlier recoveries can no longer be taken back. */
    void forgive(Row row) {
        row.recoveries = 0;
        takeovers.values().forEach(taken -> taken.remove(row));
    }

    /** Removes a run that has ended, with everything that belongs to it. */
    int remove(Row row) {
        if (!row.state.isTerminal()) {
            throw new IllegalStateException("Run " + row.ref.id() + " is " + row.state + ".");
        }
        byId.remove(row.ref.id());
        byKey.remove(row.ref.key());
        exchange.removed(row);
        if (row.startBy != null) {
            startLimits.remove(row);
        }
        takeovers.values().forEach(taken -> taken.remove(row));
        post.forget(row.ref.id());
        post.forgetTokens(row.ref.id());
        objects.removed(row);
        return 1;
    }

    /**
     * When a run was taken over.
     *
     * @param restarts the life in which it was
     * @param entries how many entries its journal had
     */
    private record TakeOver(int restarts, int entries) {}

    /** Recovers a run whose worker died, or failed to continue it. */
    RunChange recover(Row row, String why) {
        row.recoveries = row.recoveriesWithoutProgress() + 1;
        row.entriesAtRecovery = row.journal.size();
        row.epoch++;
        Control asked = row.control;
        if (asked.kill() != null) {
            return change(row, RunState.CANCELLED, asked.kill());
        }
        if (asked.pause() != null) {
            return change(row, RunState.PAUSED, asked.pause());
        }
        if (row.recoveries >= Claimed.PAUSED_AFTER) {
            return change(
                    row,
                    RunState.PAUSED,
                    "Recovered %s times without progress; the last time because: %s. Fix the cause, then resume it."
                            .formatted(row.recoveries, why));
        }
        return change(row, RunState.READY, why);
    }
}
