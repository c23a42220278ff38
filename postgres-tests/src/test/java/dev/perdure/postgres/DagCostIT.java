package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What tasks of DAGs cost. */
final class DagCostIT extends CostMeasurement {
    /** A start, an end of each task by which the worker gets the next, and the end of the run itself. */
    @Test
    void a_line_of_tasks_is_a_round_trip_and_a_commit_for_each_and_two_more() {
        int length = 30;
        List<Task> tasks = IntStream.range(0, length)
                .mapToObj(i -> new Task(newRun("task-" + i), i == 0 ? List.of() : List.of(i - 1)))
                .toList();
        assertThat(costOf(() -> {
                    Change.Start start = new Change.Start(newRun("line"), fixture.worker, List.of(), tasks);
                    List<Claimed> held = ((Outcome.Started) fixture.apply(start)).handed();
                    for (int i = 0; i <= length; i++) {
                        Change end = StoreFixture.completeAndGoOn(held.getFirst());
                        held = ((Outcome.Applied) fixture.apply(end)).handed();
                    }
                }))
                .isEqualTo(new Cost(length + 2, length + 2));
        assertThat(store.runs().find(newRun("line").id()).orElseThrow().info().state())
                .isEqualTo(RunState.COMPLETED);
    }

    /** Settings, and ends with what they open: two statements, however many tasks end at once. */
    @Test
    void tasks_that_end_together_and_what_comes_after_them_are_one_round_trip_and_two_statements() {
        int dags = 100;
        for (int warmUp = 0; warmUp < 5; warmUp++) {
            fixture.apply(endsOf(diamonds("warm-" + warmUp, 2)));
        }
        List<Change> ends = endsOf(diamonds("dag", dags));
        assertThat(ends).hasSize(4 * dags);
        assertThat(costOf(() -> assertThat(fixture.apply(ends).stream()
                                .mapToInt(outcome ->
                                        ((Outcome.Applied) outcome).handed().size())
                                .sum())
                        .isEqualTo(dags)))
                .isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(2);
    }

    /** Starts of DAGs of which four tasks begin at once and a fifth comes after them; gives the four of each. */
    private List<Claimed> diamonds(String name, int count) {
        List<Change> starts = IntStream.range(0, count)
                .<Change>mapToObj(i -> {
                    String dag = name + "-" + i;
                    List<Task> tasks = IntStream.range(0, 5)
                            .mapToObj(place ->
                                    new Task(newRun(dag + "/" + place), place == 4 ? List.of(0, 1, 2, 3) : List.of()))
                            .toList();
                    return new Change.Start(newRun(dag), fixture.worker, List.of(), tasks);
                })
                .toList();
        return fixture.apply(starts).stream()
                .flatMap(started -> ((Outcome.Started) started).handed().stream())
                .toList();
    }

    private static List<Change> endsOf(List<Claimed> tasks) {
        return tasks.stream().<Change>map(StoreFixture::completeAndGoOn).toList();
    }

    @Test
    void all_there_is_to_know_of_many_tasks_is_two_round_trips() {
        List<Task> tasks = IntStream.range(0, 100)
                .mapToObj(i -> new Task(newRun("task-" + i), List.of()))
                .toList();
        RunRef run = ((Outcome.Started)
                        fixture.apply(new Change.Start(newRun("wide"), fixture.worker, List.of(), tasks)))
                .run();
        assertThat(costOf(() -> assertThat(store.runs().tasks(run)).hasSize(100)))
                .isEqualTo(new Cost(2, 0));
    }
}
