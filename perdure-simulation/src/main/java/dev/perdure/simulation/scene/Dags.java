package dev.perdure.simulation.scene;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunActiveException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A DAG: one task, two beside each other of which one may be skipped, one after both. Tasks fail for good, and are
 * begun anew.
 */
public final class Dags implements Scene {
    private static final String ID = "diamond";
    private static final List<String> TASKS = List.of("first", "left", "right", "last");

    private final Cast cast;
    private final Map<String, Integer> ran = new TreeMap<>();
    private final Dag<Integer, Integer> dag;
    private final int input;
    private final boolean breaks;
    private boolean mended;
    private String rerun = "";
    /** The tasks that had begun when the cancel of the DAG was acknowledged; null if it is not cancelled. */
    private @Nullable Set<String> begunBeforeCancel;

    /** For one history. */
    public Dags(Cast cast) {
        this.cast = cast;
        this.input = cast.choices().oneIn(3) ? 20 : 10;
        this.breaks = cast.choices().oneIn(3);
        this.dag = Dag.of(ID, Integer.class, tasks -> {
            var first = tasks.task("first", task -> ran("first", task.input()));
            var left = tasks.after(first).task("left", (task, value) -> ran("left", value + 1));
            var right = tasks.after(first)
                    .task("right", (task, value) -> broken(value + 2))
                    .retry(3)
                    .onlyIf((task, value) -> value == 10);
            return tasks.after(left, right)
                    .task("last", (task, one, two) -> ran("last", one + (two == null ? 0 : two)));
        });
    }

    private void begins(String task) {
        Set<String> begun = begunBeforeCancel;
        if (begun != null && !begun.contains(task)) {
            cast.fail("The task '%s' began after the cancel of its DAG. Before, these had begun: %s"
                    .formatted(task, begun));
        }
    }

    /** A worker that has claimed a task before begins its body a little later. */
    private void cancel() {
        cast.call(perdure -> perdure.start(dag, input, StartOptions.id(ID)).cancel("It is not wanted."));
        begunBeforeCancel = TASKS.stream()
                .filter(task ->
                        cast.history(ID + "/" + task).stream().anyMatch(entered -> entered.state() == RunState.RUNNING))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private int ran(String task, int value) {
        begins(task);
        ran.merge(task, 1, Integer::sum);
        cast.pause();
        if (cast.choices().oneIn(8)) {
            throw new IllegalStateException("A task fails now and then.");
        }
        return value;
    }

    private int broken(int value) {
        begins("right");
        ran.merge("right", 1, Integer::sum);
        cast.pause();
        if (breaks && !mended) {
            throw new IllegalStateException("A task fails until it is mended.");
        }
        return value;
    }

    @Override
    public void register() {
        cast.register(dag);
    }

    @Override
    public void play() {
        cast.perdure().start(dag, input, StartOptions.id(ID));
        cast.pauseUpTo(Duration.ofMillis(20));
        if (cast.choices().oneIn(6)) {
            cancel();
        } else if (cast.choices().oneIn(8)) {
            RunId last = RunId.of(ID + "/last");
            cast.killed(last);
            cast.call(perdure -> perdure.run(last, TypeRef.of(Object.class)).kill("It is not needed."));
        }
        if (!breaks && cast.choices().oneIn(2)) {
            return;
        }
        for (int i = 0; i < 100 && !hasEnded(); i++) {
            cast.pause(Duration.ofSeconds(1));
        }
        mended = true;
        begunBeforeCancel = null;
        cast.call(perdure -> again(perdure.start(dag, input, StartOptions.id(ID))));
    }

    private void again(DagRun<Integer> run) {
        try {
            if (cast.completed(ID)) {
                String task = cast.choices().pick(List.of("first", "left", "right"));
                int before = ran.getOrDefault(task, 0);
                run.rerun(task);
                rerun = task;
                ran.put("before", before);
            } else {
                run.retryFailed();
            }
        } catch (RunActiveException | InvalidRequestException refused) {
            // it has not ended, or nothing in it failed
        }
    }

    private boolean hasEnded() {
        return cast.info(ID).filter(info -> info.state().isTerminal()).isPresent();
    }

    private RunState state(String task) {
        return cast.info(ID + "/" + task).orElseThrow().state();
    }

    private Instant end(String id) {
        return cast.history(id).getLast().at();
    }

    @Override
    public void check() {
        for (String task : TASKS) {
            Instant end = end(ID + "/" + task);
            Cast.must(
                    cast.isKilled(ID) || !end.isAfter(end(ID)),
                    "The DAG ended at %s, and its task %s at %s.",
                    end(ID),
                    task,
                    end);
        }
        if (!cast.completed(ID)) {
            return;
        }
        int result = cast.result(ID, Integer.class);
        boolean skipped = input != 10;
        Cast.must(result == (skipped ? 21 : 23), "The diamond gave %s.", result);
        Cast.must(ran.containsKey("right") != skipped, "These tasks ran: %s", ran);
        Cast.must(state("right") == (skipped ? RunState.SKIPPED : RunState.COMPLETED), "Right is %s.", state("right"));
        for (String task : new String[] {"first", "left", "last"}) {
            Cast.must(ran.containsKey(task) && state(task) == RunState.COMPLETED, "Only %s ran.", ran);
        }
        Cast.must(
                rerun.isEmpty()
                        || (rerun.equals("right") && skipped)
                        || ran.getOrDefault(rerun, 0) > ran.getOrDefault("before", 0),
                "The task was begun anew and did not run: %s",
                ran);
    }
}
