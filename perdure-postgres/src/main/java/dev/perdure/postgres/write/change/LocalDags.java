package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Premise;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The {@link LocalDag DAGs} whose tasks this process has at work, so that a task can go on to the next without anything
 * being looked up.
 *
 * <p>How it works: a DAG is known from its start, if the worker that started it has its first tasks, and for as long as a worker
 * here has one of its tasks in memory that it was handed. Nothing in it has to be true but what never changes: the statement that uses it fails if rows
 * are not as it says, and the batch goes the way that looks everything up. Whatever a task does but end makes its DAG
 * forgotten; so nothing is kept of tasks that wait.
 */
public final class LocalDags {
    /** Two generations of so many are known at most: some megabytes, for as long as so much is at work. */
    private static final int GENERATION = 25_000;
    /** A larger outcome is not kept: the statement that needs it reads it again. */
    private static final int LARGEST_OUTCOME = 1_024;

    private final AtomicReference<Generations> tasks =
            new AtomicReference<>(new Generations(new ConcurrentHashMap<>(), new ConcurrentHashMap<>()));

    /**
     * Tasks by key. When the young are many they become the old, and the former old are dropped: among these may be tasks of a worker that
     * has lost its lease, which would otherwise stay for ever.
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

    /** A DAG has been born, and the worker that started it has the tasks that begin at once. */
    public void born(LocalDag dag) {
        for (Member task : dag.tasks) {
            if (task.begins()) {
                taken(task);
            }
        }
        ConcurrentMap<Long, Member> young =
                tasks.updateAndGet(Generations::next).young();
        dag.tasks.forEach(task -> young.put(task.ref.key(), task));
    }

    /** What came of a change, whichever way it went. */
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

    /** The task has ended so, and that is durable. */
    public static void noteEnd(Member task, Move.End end) {
        if (end.outcome().bytes().length > LARGEST_OUTCOME) {
            return;
        }
        task.ended = new Premise(task.ref, end.state(), end.outcome(), Text.storable(end.reason()));
    }

    /** Rows were not as the DAG of this task says. */
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
