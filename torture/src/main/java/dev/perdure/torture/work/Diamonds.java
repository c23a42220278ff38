package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.TaskContext;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** DAGs of four tasks: no task ends after one that comes after it has begun, and the results are what bodies gave. */
public final class Diamonds implements Workload {
    /** What the last task was given, and what it gave. */
    public record Joined(String left, String right, String own) {}

    private static Dag<Integer, Joined> dag(OutsideLedger ledger) {
        return Dag.of("diamonds", Integer.class, dag -> {
            var top = dag.task("top", t -> line(ledger, t));
            var left = dag.after(top).task("left", (t, first) -> line(ledger, t));
            var right = dag.after(top).task("right", (t, first) -> line(ledger, t));
            return dag.after(left, right).task("join", (t, one, two) -> new Joined(one, two, line(ledger, t)));
        });
    }

    private static String line(OutsideLedger ledger, TaskContext<Integer> task) throws Exception {
        return ledger.write(task.runId().value(), task.name());
    }

    @Override
    public String name() {
        return "diamonds";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(dag(parts.ledger()));
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(dag(parts.ledger()), number, StartOptions.id("diamonds-" + number));
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().mapToObj(number -> "diamonds-" + number).forEach(id -> {
            List<Line> lines = seen.of(id);
            Set<String> written = lines.stream().map(Line::value).collect(Collectors.toSet());
            Optional<Joined> joined =
                    seen.client().run(RunId.of(id), TypeRef.of(Joined.class)).resultNow();
            List<String> given = joined.map(all -> List.of(all.left(), all.right(), all.own()))
                    .orElse(List.of());
            if (given.isEmpty() || !written.containsAll(given)) {
                violations.add("DAG '%s' gave %s, and its bodies gave %s.".formatted(id, given, written));
            }
            Instant join = Seen.first(lines, "join");
            lines.stream()
                    .filter(line -> !line.step().equals("join") && line.at().isAfter(join))
                    .filter(line -> !seen.mayBeLate(line) || given.contains(line.value()))
                    .forEach(line -> violations.add("The task '%s' of DAG '%s' ended after the last task had begun."
                            .formatted(line.step(), id)));
        });
        return violations;
    }
}
