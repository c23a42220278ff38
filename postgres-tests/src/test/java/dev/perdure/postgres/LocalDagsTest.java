package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.json;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.postgres.write.change.LocalDag;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.postgres.write.change.LocalDags;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Task;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** For how long DAGs are known. */
final class LocalDagsTest {
    private static final Move END = new Move.End(RunState.COMPLETED, json("1"), "", 1);

    private final LocalDags localDags = new LocalDags();

    /** A DAG whose second task comes after the first. */
    private LocalDag born(long number) {
        List<Task> tasks = List.of(
                new Task(newRun(number + "/first"), List.of()), new Task(newRun(number + "/second"), List.of(0)));
        LocalDag dag = new LocalDag(number, newRun("dag-" + number), tasks, new long[] {number + 1, number + 2});
        localDags.born(dag, Instant.EPOCH);
        return dag;
    }

    private boolean isKnown(Member task) {
        return localDags.find(task.ref.key()) != null;
    }

    private void ended(Member task, Member... next) {
        List<Claimed> handed = List.of(next).stream()
                .map(one -> new Claimed(
                        one.ref,
                        1,
                        "order",
                        json("1"),
                        1,
                        Control.NONE,
                        null,
                        0,
                        List.of(),
                        null,
                        Origin.of(one.run, Instant.EPOCH)))
                .toList();
        localDags.saw(
                new Change.Advance(task.ref, 1, List.of(), END),
                new Outcome.Applied(Instant.EPOCH, RunState.COMPLETED, handed));
    }

    @Test
    void a_dag_is_known_until_the_last_of_its_tasks_in_hand_has_ended() {
        LocalDag dag = born(0);
        Member first = dag.tasks.get(0);
        Member second = dag.tasks.get(1);
        ended(first, second);
        assertThat(isKnown(second)).isTrue();
        assertThat(first.ended).isNotNull();
        ended(second, dag.head);
        assertThat(isKnown(first) || isKnown(second)).isFalse();
    }

    @Test
    void nothing_is_kept_of_a_dag_that_no_worker_here_continues() {
        LocalDag dag = born(0);
        ended(dag.tasks.get(0));
        assertThat(isKnown(dag.tasks.get(1))).isFalse();
    }

    @Test
    void a_task_that_waits_makes_its_dag_forgotten() {
        Member first = born(0).tasks.get(0);
        Move wait = new Move.Wait(RunState.SUSPENDED, new Due.Never(), 0);
        localDags.saw(
                new Change.Advance(first.ref, 1, List.of(), wait),
                new Outcome.Applied(Instant.EPOCH, RunState.SUSPENDED));
        assertThat(isKnown(first)).isFalse();
    }

    @Test
    void an_end_that_was_not_applied_makes_its_dag_forgotten() {
        Member first = born(0).tasks.get(0);
        localDags.saw(new Change.Advance(first.ref, 1, List.of(), END), new Outcome.Fenced());
        assertThat(isKnown(first)).isFalse();
    }

    /** As those of a worker that has lost its lease. */
    @Test
    void dags_that_are_not_forgotten_otherwise_are_when_there_are_many() {
        List<LocalDag> all =
                LongStream.range(0, 40_000).mapToObj(i -> born(i * 3)).toList();
        long known = all.stream().filter(dag -> isKnown(dag.tasks.get(0))).count();
        assertThat(known).isLessThan(30_000);
        assertThat(isKnown(all.getFirst().tasks.get(0))).isFalse();
        assertThat(isKnown(all.getLast().tasks.get(0))).isTrue();
    }
}
