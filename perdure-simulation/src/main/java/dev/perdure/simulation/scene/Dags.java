package dev.perdure.simulation.scene;

import dev.perdure.StartOptions;
import dev.perdure.dag.Dag;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** A DAG: one task, two beside each other, one after both. */
public final class Dags implements Scene {
    private final Cast cast;
    private final Map<String, Integer> ran = new TreeMap<>();
    private final Dag<Integer, Integer> dag;

    /** For one history. */
    public Dags(Cast cast) {
        this.cast = cast;
        this.dag = Dag.of("diamond", Integer.class, tasks -> {
            var first = tasks.task("first", task -> ran("first", task.input()));
            var left = tasks.after(first).task("left", (task, value) -> ran("left", value + 1));
            var right = tasks.after(first).task("right", (task, value) -> ran("right", value + 2));
            return tasks.after(left, right).task("last", (task, one, two) -> ran("last", one + two));
        });
    }

    private int ran(String task, int value) {
        ran.merge(task, 1, Integer::sum);
        cast.pause();
        if (cast.choices().oneIn(8)) {
            throw new IllegalStateException("A task fails now and then.");
        }
        return value;
    }

    @Override
    public void register() {
        cast.register(dag);
    }

    @Override
    public void play() {
        cast.perdure().start(dag, 10, StartOptions.id("diamond"));
        cast.pauseUpTo(Duration.ofMillis(20));
    }

    @Override
    public void check() {
        if (cast.completed("diamond")) {
            Cast.must(cast.result("diamond", Integer.class) == 23, "The diamond gave a wrong sum.");
            Cast.must(ran.size() == 4, "Only %s ran.", ran);
        }
    }
}
