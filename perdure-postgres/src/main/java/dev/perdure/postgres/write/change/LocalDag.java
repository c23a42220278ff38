package dev.perdure.postgres.write.change;

import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A DAG's run and its tasks: their unchanging properties, and the outcomes of the tasks that ended here. Its edges are
 * those that the rows have as {@code after} and {@code before}.
 */
public final class LocalDag {
    /** The run that the tasks belong to. */
    public final Member head;

    /** The tasks, in the order of their start. */
    public final List<Member> tasks;

    /** How many of the tasks are in memory here. */
    final AtomicInteger inHand = new AtomicInteger();

    private volatile @Nullable Instant startedAt;

    /** One of the tasks. */
    public static final class Member {
        public final RunRef ref;
        public final NewRun run;
        public final LocalDag dag;
        /** The tasks that it comes after, in order. */
        public final List<Member> after = new ArrayList<>();
        /** The tasks that come after it. */
        public final List<Member> before = new ArrayList<>();

        /** Whether a worker has it in memory, to which it was handed over here. */
        volatile boolean inHand;

        /** Its outcome, if it is known here. */
        public volatile @Nullable Premise ended;

        private Member(RunRef ref, NewRun run, LocalDag dag) {
            this.ref = ref;
            this.run = run;
            this.dag = dag;
        }

        public boolean begins() {
            return after.isEmpty();
        }

        /** Its input, if it differs from the input of its DAG's run. */
        public byte @Nullable [] ownInput() {
            return run.input().equals(dag.head.run.input()) ? null : run.input().bytes();
        }
    }

    /**
     * A DAG that is about to be started.
     *
     * @param key the key of the run that the tasks belong to
     * @param numbers one number per task, in ascending order
     */
    public LocalDag(long key, NewRun run, List<Task> tasks, long[] numbers) {
        this.head = new Member(new RunRef(run.id(), key), run, this);
        List<Member> born = new ArrayList<>(tasks.size());
        for (int i = 0; i < numbers.length; i++) {
            NewRun task = tasks.get(i).run();
            born.add(new Member(new RunRef(task.id(), Keys.taskKey(numbers[i], key)), task, this));
        }
        for (int i = 0; i < numbers.length; i++) {
            for (int premise : tasks.get(i).after()) {
                connect(born.get(premise), born.get(i));
            }
        }
        for (Member task : born) {
            if (task.before.isEmpty()) {
                connect(task, head);
            }
        }
        this.tasks = List.copyOf(born);
    }

    void started(Instant at) {
        startedAt = at;
    }

    /** When it was started, by the store's clock; null if it was not. */
    public @Nullable Instant startedAt() {
        return startedAt;
    }

    private static void connect(Member premise, Member next) {
        premise.before.add(next);
        next.after.add(premise);
    }

    static long[] keys(List<Member> members) {
        return members.stream().mapToLong(member -> member.ref.key()).toArray();
    }
}
