package dev.perdure.internal.commit;

import dev.perdure.RunId;
import dev.perdure.StoreException;
import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Change;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Lane;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.WorkerId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets changes share commits without making anyone wait for a timer.
 *
 * <p>How it works. Whoever comes with a change puts it into the queue. If a lane is free he takes it and becomes its
 * leader: he sends everything that is queued as one batch, in his own thread. Otherwise he waits, and his change goes with
 * the next batch. A leader that comes back hands its outcomes out and gives the lane to the first in the queue, who leads
 * next; so a lone caller pays one round trip and nothing else, and under load a batch is what came while the last one was
 * on its way.
 *
 * <p>Invariants. While a lane is free, everybody in the queue has a leader on the way. An outcome is handed out only after {@link Ledger#apply} has returned,
 * so nothing is ever acknowledged from memory. A batch never has two changes of one run. When it is not known whether a
 * batch was applied it is sent again, as it is: changes are idempotent. If the worker's lease has ended by its own clock
 * nothing is sent any more and everything is {@link Outcome.Fenced}.
 */
public final class Committer {
    private static final int MAX_BATCH = 1_000;

    private final Ledger ledger;
    private final Clockwork clockwork;
    private final @Nullable WorkerId worker;
    private final BooleanSupplier alive;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Pending> queue = new ArrayDeque<>();
    private final Deque<Lane> free = new ArrayDeque<>();

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
        for (int number = 0; number < lanes; number++) {
            free.add(new Lane(worker, number));
        }
    }

    /** One caller with his changes: he is called when all have an outcome, or when he is to lead. */
    private static final class Caller {
        private final Clockwork.Signal signal;
        private int open;
        private boolean leads;
        private @Nullable Lane given;
        private @Nullable RuntimeException failure;

        Caller(Clockwork.Signal signal, int open) {
            this.signal = signal;
            this.open = open;
        }
    }

    private static final class Pending {
        private final Change change;
        private final Caller caller;
        private @Nullable Outcome outcome;

        Pending(Change change, Caller caller) {
            this.change = change;
            this.caller = caller;
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
        Lane lane = enqueue(caller, mine);
        while (true) {
            if (lane != null) {
                lead(caller, lane);
            }
            lock.lock();
            try {
                if (caller.failure != null) {
                    giveUp(caller);
                    throw caller.failure;
                }
                if (caller.open == 0) {
                    passOn(caller);
                    return mine.stream().map(Committer::outcomeOf).toList();
                }
                lane = caller.given;
                caller.given = null;
                caller.leads = lane != null;
            } finally {
                lock.unlock();
            }
            if (lane == null) {
                Waiting.forSignal(caller.signal);
            }
        }
    }

    private void giveUp(Caller caller) {
        queue.removeIf(pending -> pending.caller == caller);
        passOn(caller);
    }

    /** A lane given to a caller whose changes went with somebody else's batch meanwhile. */
    private void passOn(Caller caller) {
        if (caller.given != null) {
            handOver(caller.given);
            caller.given = null;
        }
    }

    private static Outcome outcomeOf(Pending pending) {
        if (pending.outcome == null) {
            throw new IllegalStateException("A change was acknowledged without an outcome.");
        }
        return pending.outcome;
    }

    private @Nullable Lane enqueue(Caller caller, List<Pending> pending) {
        lock.lock();
        try {
            queue.addAll(pending);
            Lane lane = pending.isEmpty() ? null : free.poll();
            caller.leads = lane != null;
            return lane;
        } finally {
            lock.unlock();
        }
    }

    private void lead(Caller leader, Lane lane) {
        List<Pending> batch = takeBatch();
        List<Outcome> outcomes = List.of();
        RuntimeException failure = null;
        try {
            outcomes = send(lane, batch.stream().map(pending -> pending.change).toList());
        } catch (StoreException trouble) {
            failure = trouble;
        } catch (RuntimeException bug) {
            failure = new StoreException(StoreException.Kind.UNUSABLE, "The store failed in an unexpected way.", bug);
        }
        lock.lock();
        try {
            for (int i = 0; i < batch.size(); i++) {
                Pending pending = batch.get(i);
                pending.outcome = failure == null ? outcomes.get(i) : null;
                pending.caller.failure = failure == null ? pending.caller.failure : failure;
                if (--pending.caller.open == 0 || failure != null) {
                    pending.caller.signal.raise();
                }
            }
            leader.leads = false;
            handOver(lane);
        } finally {
            lock.unlock();
        }
    }

    /** Gives the lane to the first in the queue who does not lead already; whoever does will take the rest along. */
    private void handOver(Lane lane) {
        for (Pending pending : queue) {
            Caller next = pending.caller;
            if (!next.leads && next.given == null) {
                next.given = lane;
                next.signal.raise();
                return;
            }
        }
        free.add(lane);
    }

    private List<Pending> takeBatch() {
        List<Pending> batch = new ArrayList<>();
        Set<RunId> runs = new HashSet<>();
        lock.lock();
        try {
            Iterator<Pending> waiting = queue.iterator();
            while (waiting.hasNext() && batch.size() < MAX_BATCH) {
                Pending pending = waiting.next();
                if (runs.add(runOf(pending.change))) {
                    batch.add(pending);
                    waiting.remove();
                }
            }
        } finally {
            lock.unlock();
        }
        return batch;
    }

    private static RunId runOf(Change change) {
        return switch (change) {
            case Change.Start start -> start.run().id();
            case Change.Advance advance -> advance.run().id();
            case Change.Command command -> command.run();
        };
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
