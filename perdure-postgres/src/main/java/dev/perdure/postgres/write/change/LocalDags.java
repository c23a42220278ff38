package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Premise;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The {@link LocalDag DAGs} whose tasks this process executes, so that a worker can continue from one task to the next
 * without looking anything up.
 *
 * <p>How it works: a DAG is known from its start, if the worker that started it has its first tasks, and for as long as
 * a worker here has one of its handed-over tasks in memory. Only what never changes has to be true: the statement that
 * uses it fails if rows differ, and then the batch looks everything up. If a task does anything else than end, its DAG
 * is forgotten, so nothing is kept of tasks that wait.
 */
public final class LocalDags {
    /** At most two generations of this many tasks are known: some megabytes, while that many are at work. */
    private static final int GENERATION = 25_000;
    /** A larger outcome is not kept: the statement that needs it reads it again. */
    private static final int LARGEST_OUTCOME = 1_024;

    private final AtomicReference<Generations> tasks =
            new AtomicReference<>(new Generations(new ConcurrentHashMap<>(), new ConcurrentHashMap<>()));

    /**
     * Tasks by key. When the young generation is full, it becomes the old one, and the former old one is dropped. It
     * may contain tasks of a worker that has lost its lease, which would otherwise stay for ever.
     */
    private record Generations(ConcurrentMap<Long, Member> young, ConcurrentMap<Long, Member> old) {
        @Nullable
        Member find(long key) {
            Member found = young.get(key);
            return found != null ? found : old.get(key);
        }

        Generations next() {
            return young.size() < GENERATION ? this : new Generations(new ConcurrentHashMap<>(), young);
        }
    }

    /** The task with this key, if its DAG is known. */
    @Nullable
    public Member find(long key) {
        return tasks.get().find(key);
    }

    /** A DAG has been started, and the worker that started it has the tasks that begin at once. */
    public void born(LocalDag dag, Instant at) {
        dag.started(at);
        for (Member task : dag.tasks) {
            if (task.begins()) {
                taken(task);
            }
        }
        ConcurrentMap<Long, Member> young =
                tasks.updateAndGet(Generations::next).young();
        dag.tasks.forEach(task -> young.put(task.ref.key(), task));
    }

    /** The outcome of a change, whichever plan sent it. */
    public void saw(Change change, Outcome outcome) {
        if (!(change instanceof Change.Advance advance) || advance.move() instanceof Move.Stay) {
            return;
        }
        Member task = find(advance.run().key());
        if (task == null) {
            return;
        }
        if (advance.move() instanceof Move.End end && outcome instanceof Outcome.Applied applied) {
            ended(task, end, applied.handed());
        } else {
            forget(task.dag);
        }
    }

    private void ended(Member task, Move.End end, List<Claimed> handed) {
        noteEnd(task, end);
        for (Claimed claim : handed) {
            Member next = find(claim.run().key());
            if (next != null) {
                taken(next);
            }
        }
        if (task.inHand) {
            task.inHand = false;
            if (task.dag.inHand.decrementAndGet() == 0) {
                forget(task.dag);
            }
        }
    }

    private static void taken(Member task) {
        task.inHand = true;
        task.dag.inHand.incrementAndGet();
    }

    /** The task has ended with this outcome, which is durable. */
    public static void noteEnd(Member task, Move.End end) {
        if (end.outcome().bytes().length > LARGEST_OUTCOME) {
            return;
        }
        task.ended = new Premise(task.ref, end.state(), end.outcome(), Text.storable(end.reason()));
    }

    /** Rows differ from what the DAG of this task says. */
    public void doubt(Change change) {
        Member task =
                change instanceof Change.Advance advance ? find(advance.run().key()) : null;
        if (task != null) {
            forget(task.dag);
        }
    }

    /** Nothing that is known here may be used any more. */
    public void forgetAll() {
        tasks.set(new Generations(new ConcurrentHashMap<>(), new ConcurrentHashMap<>()));
    }

    private void forget(LocalDag dag) {
        Generations all = tasks.get();
        for (Member task : dag.tasks) {
            all.young().remove(task.ref.key(), task);
            all.old().remove(task.ref.key(), task);
        }
    }
}
