package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagTask;
import dev.perdure.postgres.PostgresStore;
import java.util.List;
import java.util.stream.IntStream;

/** W6: DAGs of ten no-op tasks with a fan-out of four and two joins, one alone and a thousand concurrently. */
public final class Dags {
    private static final int TASKS = 10;
    private static final int AT_ONCE = 1_000;

    private static final Dag<Integer, Integer> DAG = Dag.of("dag", Integer.class, dag -> {
        var first = dag.task("first", t -> t.input());
        List<DagTask<Integer>> four = IntStream.range(0, 4)
                .<DagTask<Integer>>mapToObj(i -> dag.after(first).task("four-" + i, (t, number) -> number + i))
                .toList();
        var join = dag.after(four)
                .task(
                        "join",
                        (t, numbers) ->
                                numbers.stream().mapToInt(Integer::intValue).sum());
        List<DagTask<Integer>> three = IntStream.range(0, 3)
                .<DagTask<Integer>>mapToObj(i -> dag.after(join).task("three-" + i, (t, number) -> number + i))
                .toList();
        return dag.after(three)
                .task(
                        "last",
                        (t, numbers) ->
                                numbers.stream().mapToInt(Integer::intValue).sum());
    });

    private Dags() {}

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(DAG).start()) {
            Load.Action one = () -> perdure.start(DAG, 1).result();
            Load.of(16, task.scale().warmUp(), one);
            alone(task, one);
            many(task, one);
        }
    }

    private static void alone(Task task, Load.Action one) throws Exception {
        task.results().progress("w6.alone");
        Load.of(1, task.scale().warmUp().dividedBy(4), one);
        Rounds<Metered<Load>> rounds = Rounds.of(
                task, () -> task.meter().measure(() -> Load.of(1, task.scale().round(), one)));
        rounds.figure("w6.alone", Unit.MILLISECONDS, round -> round.result().p50());
        rounds.cost("w6.alone", round -> round.cost().per(round.result().operations()));
    }

    /** Repeats a burst of this many DAGs until the time is over. Reports tasks per second and the cost of a task. */
    private static void many(Task task, Load.Action one) throws Exception {
        int dags = task.scale().choose(AT_ONCE, AT_ONCE, TASKS);
        task.results().progress("w6.tasks");
        Burst.during(task.scale().warmUp().dividedBy(4), dags, one);
        Rounds<Metered<Burst>> rounds = Rounds.of(
                task, () -> task.meter().measure(() -> Burst.during(task.scale().round(), dags, one)));
        rounds.figure("w6.tasks", Unit.PER_SECOND, round -> round.result().perSecond() * TASKS);
        rounds.cost("w6.tasks", round -> round.cost().per(round.result().count() * TASKS));
    }
}
