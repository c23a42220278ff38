package dev.perdure.postgres;

import dev.perdure.postgres.Family.Member;
import dev.perdure.spi.Change;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Premise;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Family families} whose tasks this process has at work, so that a task can go on to the next without anything
 * being looked up.
 *
 * <p>How it works: a family is known from its start, if the worker that started it has its first tasks, and for as long as a worker
 * here has one of its tasks in memory. Nothing in it has to be true but what never changes: the statement that uses it fails if rows
 * are not as it says, and the batch goes the way that looks everything up. Whatever a task does but end makes its family
 * forgotten; so nothing is kept of tasks that wait.
 */
final class Families {
    private static final int MOST_TASKS = 20_000;
    /** What is larger is read again by whoever needs it. */
    private static final int LARGEST_OUTCOME = 1_024;

    private final ConcurrentMap<Long, Member> tasks = new ConcurrentHashMap<>();

    /** The task with this key, if the worker that has it in memory under this epoch got it from here. */
    @Nullable
    Member inHand(long key, long epoch) {
        Member task = tasks.get(key);
        return task != null && task.epoch == epoch ? task : null;
    }

    /** A family has been born, and the worker that started it has the tasks that begin at once. */
    void born(Family family) {
        if (tasks.size() + family.tasks.size() > MOST_TASKS) {
            // Some may be of workers that are gone.
            tasks.clear();
        }
        for (Member task : family.tasks) {
            if (task.begins()) {
                task.epoch = Outcome.Started.FIRST_EPOCH;
                family.inHand.incrementAndGet();
            }
        }
        family.tasks.forEach(task -> tasks.put(task.ref.key(), task));
    }

    /** What came of a change, whichever way it went. */
    void saw(Change change, Outcome outcome) {
        if (!(change instanceof Change.Advance advance) || advance.move() instanceof Move.Stay) {
            return;
        }
        Member task = tasks.get(advance.run().key());
        if (task == null) {
            return;
        }
        boolean inHand = task.epoch == advance.epoch();
        if (inHand && advance.move() instanceof Move.End end && outcome instanceof Outcome.Applied applied) {
            ended(task, end, applied.handed());
        } else {
            forget(task.family);
        }
    }

    private void ended(Member task, Move.End end, List<Claimed> handed) {
        noteEnd(task, end);
        task.epoch = 0;
        for (Claimed claim : handed) {
            Member next = tasks.get(claim.run().key());
            if (next != null) {
                next.epoch = claim.epoch();
                next.family.inHand.incrementAndGet();
            }
        }
        if (task.family.inHand.decrementAndGet() == 0) {
            forget(task.family);
        }
    }

    /** The task has ended so, and that is durable. */
    static void noteEnd(Member task, Move.End end) {
        if (end.outcome().bytes().length > LARGEST_OUTCOME) {
            return;
        }
        task.ended = new Premise(task.ref, end.state(), end.outcome(), Text.storable(end.reason()));
    }

    /** Rows were not as the family of this task says. */
    void doubt(Change change) {
        Member task = change instanceof Change.Advance advance
                ? tasks.get(advance.run().key())
                : null;
        if (task != null) {
            forget(task.family);
        }
    }

    private void forget(Family family) {
        family.tasks.forEach(task -> tasks.remove(task.ref.key(), task));
    }
}
