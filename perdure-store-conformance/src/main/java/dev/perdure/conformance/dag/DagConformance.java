package dev.perdure.conformance.dag;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What tests of runs with tasks share. */
public abstract class DagConformance extends StoreConformance {
    /** For subclasses. */
    protected DagConformance() {}

    protected static Task task(String id, Integer... after) {
        return new Task(newRun(id), List.of(after));
    }

    /** First a, then b and c, then d. */
    protected static List<Task> diamond() {
        return List.of(task("a"), task("b", 0), task("c", 0), task("d", 1, 2));
    }

    protected static List<Task> line(int length) {
        return IntStream.range(0, length)
                .mapToObj(i -> i == 0 ? task("t0") : task("t" + i, i - 1))
                .toList();
    }

    protected final Outcome.Started start(@Nullable WorkerId owner, List<Task> tasks) {
        return start(owner, newRun("dag"), tasks);
    }

    protected final Outcome.Started start(@Nullable WorkerId owner, NewRun dag, List<Task> tasks) {
        Lane lane = owner == null ? Lane.client(0) : new Lane(owner, 0);
        Outcome outcome = apply(lane, new Change.Start(dag, owner, List.of(), tasks));
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        return (Outcome.Started) outcome;
    }

    protected final List<RunState> statesOf(String... ids) {
        return List.of(ids).stream().map(id -> stateOf(refOf(id))).toList();
    }

    /** Ends a run with its own id as the result, and goes on with so many of those that come after it. */
    protected static Change.Advance completion(Claimed run, int takes) {
        String result = run.run().id().value();
        return advance(run.run(), run.epoch(), new Move.End(RunState.COMPLETED, payload(result), "", takes));
    }

    protected final List<Claimed> complete(WorkerId worker, Claimed run, int takes) {
        Outcome outcome = apply(worker, completion(run, takes));
        assertThat(outcome).isInstanceOf(Outcome.Applied.class);
        return ((Outcome.Applied) outcome).handed();
    }

    protected static List<String> ids(List<Claimed> runs) {
        return runs.stream().map(run -> run.run().id().value()).toList();
    }

    protected static List<String> told(List<Premise> premises) {
        return premises.stream()
                .map(premise -> "%s %s %s %s"
                        .formatted(
                                premise.run().id(),
                                premise.state(),
                                new String(premise.outcome().bytes(), StandardCharsets.UTF_8),
                                premise.reason())
                        .strip())
                .toList();
    }
}
