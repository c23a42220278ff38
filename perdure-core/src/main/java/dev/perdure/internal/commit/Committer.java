package dev.perdure.internal.commit;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets changes share commits without making any caller wait for a timer.
 *
 * <p>How it works. A caller puts its change into the queue. If no lane is in use, the caller takes one and becomes its
 * leader: it sends everything that is queued as one batch, in its own thread. Otherwise it waits, and its change goes
 * with the next batch. When the store has answered, the leader gives each caller its outcome and passes the lane to the
 * first caller in the queue, which leads next. So a lone caller pays one round trip and nothing else, and under load a
 * batch contains what arrived while the last batch was on its way. The committer uses a further lane only when as many
 * changes wait as a batch on its way has, and a leader lets the callers of its last batch queue their next changes
 * first. Otherwise many small batches would cost the server more than they gain. If the queued changes cost more than a
 * commit, one lane does not take all of them either. Otherwise all callers would wait for the server at the same time,
 * and the server for all callers; with two batches they take turns.
 *
 * <p>Invariants. While a change is in the queue, a lane is sending or assigned to a caller. Every lane is either free,
 * or sending, or assigned to exactly one caller, which sends or passes it on. An outcome is handed out only after
 * {@link Ledger#apply} has returned, so nothing is ever acknowledged from memory. A batch never has two changes of one
 * run, deliveries apart. If the leader does not know whether a batch was applied, it sends the same batch again:
 * changes are idempotent. If the worker's lease has ended by its own clock, the committer sends nothing more and every
 * change is {@link Outcome.Fenced}.
 */
public final class Committer {
    private static final int MAX_BATCH = 1_000;
    /** The cost of a change that does more than append, in appends. */
    private static final int HEAVY = 8;
    /** The smallest cost that is worth another commit. */
    private static final int SMALLEST_SHARE = 20 * HEAVY;

    private final Ledger ledger;
    private final Clockwork clockwork;
    private final @Nullable WorkerId worker;
    private final BooleanSupplier alive;
    private final int lanes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Pending> queue = new ArrayDeque<>();
    private final Deque<Lane> free = new ArrayDeque<>();
    /** Whether the last batch had several callers, or let several runs begin: they come back together. */
    private volatile boolean crowded;
    /** Lanes that are assigned to a caller that has not yet taken its batch. */
    private int gathering;
    /** Lanes with a batch on its way. */
    private int sending;
    /** The changes in those batches. */
    private int onTheirWay;
    /** The cost of the changes in those batches. */
    private int weightOnItsWay;

    /**
     * A committer for one incarnation of a worker, or for a client without one.
     *
     * @param alive whether the lease still holds, by this process's own clock
     */
    public Committer(Ledger ledger, Clockwork clockwork, @Nullable WorkerId worker, int lanes, BooleanSupplier alive) {
        this.ledger = ledger;
        this.clockwork = clockwork;
        this.worker = worker;
        this.alive = alive;
        this.lanes = lanes;
        for (int number = 0; number < lanes; number++) {
            free.add(new Lane(worker, number));
        }
    }

    /** One caller with its changes. It is signalled when all have an outcome, or when it has to lead. */
    private static final class Caller {
        private final Clockwork.Signal signal;
        private int open;
        private boolean sending;
        /** Those of its changes that are about something that moves from one shard to another: nearly always none. */
        private List<Pending> delayed = List.of();

        private @Nullable Backoff untilMoved;
        private @Nullable Lane leads;
        private @Nullable Throwable failure;

        Caller(Clockwork.Signal signal, int open) {
            this.signal = signal;
            this.open = open;
        }
    }

    private static final class Pending {
        private final Change change;
        private final Caller caller;
        private final int weight;
        private @Nullable Outcome outcome;

        Pending(Change change, Caller caller) {
            this.change = change;
            this.caller = caller;
            this.weight = change instanceof Change.Advance advance && advance.move() instanceof Move.Stay ? 1 : HEAVY;
        }
    }

    /** Applies one change and returns when it is durable. */
    public Outcome commit(Change change) {
        return commitAll(List.of(change)).getFirst();
    }

    /**
     * Applies changes, each on its own, and returns when all are durable.
     *
     * @throws StoreException if the store is unusable
     */
    public List<Outcome> commitAll(List<Change> changes) {
        Caller caller = new Caller(clockwork.signal(), changes.size());
        List<Pending> mine =
                changes.stream().map(change -> new Pending(change, caller)).toList();
        Lane lane = enqueue(mine);
        while (true) {
            if (lane != null) {
                lead(caller, lane);
            }
            List<Pending> again;
            lock.lock();
            try {
                lane = caller.leads;
                caller.leads = null;
                if (caller.failure != null || caller.open == 0) {
                    done(caller, lane);
                    return mine.stream().map(Committer::outcomeOf).toList();
                }
                again = lane == null ? takeDelayed(caller) : List.of();
            } finally {
                lock.unlock();
            }
            if (lane == null && !again.isEmpty()) {
                lane = sendLater(caller, again);
            } else if (lane == null) {
                Waiting.forSignal(caller.signal);
            }
        }
    }

    private static List<Pending> with(List<Pending> delayed, Pending another) {
        List<Pending> all = new ArrayList<>(delayed);
        all.add(another);
        return all;
    }

    /** What has to be sent again when nothing else of this caller is on its way. */
    private static List<Pending> takeDelayed(Caller caller) {
        if (caller.delayed.size() < caller.open) {
            return List.of();
        }
        List<Pending> again = caller.delayed;
        caller.delayed = List.of();
        return again;
    }

    /** Waits without a lane, so that changes of other runs are not held up, and puts the changes into the queue again. */
    private @Nullable Lane sendLater(Caller caller, List<Pending> again) {
        if (worker == null && !alive.getAsBoolean()) {
            throw new StoreException(
                    StoreException.Kind.MOVING,
                    "The partition of '%s' moves to another shard, and this engine was closed meanwhile."
                            .formatted(again.getFirst().change.about()),
                    null);
        }
        Backoff backoff = caller.untilMoved == null ? Backoff.gentle(clockwork) : caller.untilMoved;
        caller.untilMoved = backoff;
        backoff.pause();
        return enqueue(again);
    }

    /**
     * The caller has its outcomes, or will not get them. If it was to lead a lane and no longer needs to, it passes the
     * lane on.
     */
    private void done(Caller caller, @Nullable Lane unused) {
        if (caller.failure != null) {
            queue.removeIf(pending -> pending.caller == caller);
        }
        if (unused != null) {
            gathering--;
            handOver(unused);
        }
        switch (caller.failure) {
            case null -> {}
            case Error broken -> throw broken;
            case RuntimeException thrown -> throw thrown;
            default -> throw new IllegalStateException(caller.failure);
        }
    }

    private static Outcome outcomeOf(Pending pending) {
        if (pending.outcome == null) {
            throw new IllegalStateException("A change was acknowledged without an outcome.");
        }
        return pending.outcome;
    }

    private @Nullable Lane enqueue(List<Pending> pending) {
        lock.lock();
        try {
            queue.addAll(pending);
            Lane lane = isTimeForAnother() ? free.poll() : null;
            gathering += lane == null ? 0 : 1;
            return lane;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether no caller is about to send, and as many changes wait as a batch on its way has: fewer go with the next
     * batch.
     */
    private boolean isTimeForAnother() {
        return gathering == 0 && !queue.isEmpty() && queue.size() * sending >= onTheirWay;
    }

    private void lead(Caller leader, Lane lane) {
        if (crowded) {
            clockwork.giveWay();
        }
        List<Pending> batch = takeBatch(leader);
        List<Outcome> outcomes = List.of();
        Throwable failure = null;
        try {
            outcomes = send(lane, batch.stream().map(pending -> pending.change).toList());
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
        }
        lock.lock();
        try {
            for (int i = 0; i < batch.size(); i++) {
                Pending pending = batch.get(i);
                Caller caller = pending.caller;
                caller.failure = failure == null ? caller.failure : failure;
                if (failure == null && outcomes.get(i) instanceof Outcome.Moving) {
                    caller.delayed = with(caller.delayed, pending);
                } else {
                    pending.outcome = failure == null ? outcomes.get(i) : null;
                    caller.open--;
                }
                if (caller.open == caller.delayed.size() || failure != null) {
                    caller.signal.raise();
                }
            }
            crowded |= outcomes.stream().anyMatch(Committer::letsSeveralBegin);
            leader.sending = false;
            sending--;
            onTheirWay -= batch.size();
            weightOnItsWay -= weightOf(batch);
            handOver(lane);
        } finally {
            lock.unlock();
        }
    }

    private static boolean letsSeveralBegin(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Applied applied -> applied.handed().size() > 1;
            case Outcome.Started started -> started.handed().size() > 1;
            default -> false;
        };
    }

    /** Passes a lane on, but not to a caller that is busy with another lane: this lane would wait for it. */
    private void handOver(Lane lane) {
        for (Pending next : queue) {
            if (next.caller.leads == null && !next.caller.sending) {
                next.caller.leads = lane;
                gathering++;
                next.caller.signal.raise();
                return;
            }
        }
        free.add(lane);
    }

    /** This lane's share of all queued changes. The changes of one caller stay together. */
    private List<Pending> takeBatch(Caller leader) {
        List<Pending> batch = new ArrayList<>();
        Set<RunId> runs = new HashSet<>();
        lock.lock();
        try {
            leader.sending = true;
            int left = weightOf(queue);
            int share = Math.max(SMALLEST_SHARE, Math.ceilDiv(left + weightOnItsWay, lanes));
            int weight = 0;
            Caller last = leader;
            Iterator<Pending> waiting = queue.iterator();
            while (waiting.hasNext() && batch.size() < MAX_BATCH) {
                Pending pending = waiting.next();
                if (weight >= share && pending.caller != last) {
                    break;
                }
                if (pending.change instanceof Change.Deliver || runs.add(pending.change.about())) {
                    batch.add(pending);
                    waiting.remove();
                    last = pending.caller;
                    weight += pending.weight;
                }
            }
            crowded = batch.size() > 1;
            gathering--;
            sending++;
            onTheirWay += batch.size();
            weightOnItsWay += weight;
            if (left - weight >= SMALLEST_SHARE / 2 && gathering == 0 && !free.isEmpty()) {
                handOver(free.remove());
            }
        } finally {
            lock.unlock();
        }
        return batch;
    }

    private static int weightOf(Collection<Pending> all) {
        int weight = 0;
        for (Pending pending : all) {
            weight += pending.weight;
        }
        return weight;
    }

    private List<Outcome> send(Lane lane, List<Change> batch) {
        if (batch.isEmpty()) {
            return List.of();
        }
        Backoff backoff = new Backoff(clockwork);
        while (true) {
            if (worker != null && !alive.getAsBoolean()) {
                return batch.stream()
                        .<Outcome>map(change -> new Outcome.Fenced())
                        .toList();
            }
            try {
                return ledger.apply(lane, batch);
            } catch (StoreException trouble) {
                if (trouble.kind() == StoreException.Kind.UNUSABLE || (worker == null && !alive.getAsBoolean())) {
                    throw trouble;
                }
                backoff.pause();
            }
        }
    }
}
