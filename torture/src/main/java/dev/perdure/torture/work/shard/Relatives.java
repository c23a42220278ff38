package dev.perdure.torture.work.shard;

import static dev.perdure.ChildOptions.childId;

import dev.perdure.Child;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Runs whose three children have ids of their own, so that most are on other shards, and whose answers the runs await. One
 * in four is cancelled, half of these right after their start and half later.
 */
public final class Relatives implements Workload {
    private static final int CHILDREN = 3;
    private static final int ONE_IS_CANCELLED_OF = 4;

    /** What the children answered, in order. */
    public record Given(List<String> values) {}

    private static Definition<Integer, String> child(OutsideLedger ledger) {
        return Definition.of("distant-child", Integer.class, String.class, (ctx, number) -> {
            String run = ctx.runId().value();
            return ctx.step("work", () -> ledger.write(run, "work"));
        });
    }

    private static Definition<Integer, Given> parent(OutsideLedger ledger) {
        return Definition.of("distant-parent", Integer.class, Given.class, (ctx, number) -> {
            List<Child<String>> children = new ArrayList<>();
            for (int child = 0; child < CHILDREN; child++) {
                children.add(ctx.startChild(Invocation.of(child(ledger), number), childId(childOf(number, child))));
            }
            return new Given(children.stream().map(Child::await).toList());
        });
    }

    private static String id(int number) {
        return "relatives-" + number;
    }

    private static String childOf(int number, int child) {
        return "%s-child-%d".formatted(id(number), child);
    }

    @Override
    public String name() {
        return "relatives";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(parent(parts.ledger()), child(parts.ledger()));
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        Run<Given> run = client.start(Invocation.of(parent(parts.ledger()), number), StartOptions.id(id(number)));
        if (number % (2 * ONE_IS_CANCELLED_OF) == 0) {
            run.cancel("enough");
        }
        if (number % (2 * ONE_IS_CANCELLED_OF) == ONE_IS_CANCELLED_OF + 1) {
            client.run(RunId.of(id(number - 1)), TypeRef.of(Given.class)).cancel("enough by now");
        }
    }

    @Override
    public boolean mayBeCancelled(String run) {
        int number = Integer.parseInt(run.replaceFirst("relatives-(\\d+).*", "$1"));
        return number % ONE_IS_CANCELLED_OF == 0;
    }

    /** Each answer is what a body of that child gave. */
    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().forEach(number -> {
            Run<Given> run = seen.client().run(RunId.of(id(number)), TypeRef.of(Given.class));
            if (run.state() == RunState.CANCELLED) {
                return;
            }
            List<String> values = run.resultNow().map(Given::values).orElse(List.of());
            boolean right = values.size() == CHILDREN;
            for (int child = 0; right && child < CHILDREN; child++) {
                Set<String> given = seen.of(childOf(number, child)).stream()
                        .map(Line::value)
                        .collect(Collectors.toSet());
                right = given.contains(values.get(child));
            }
            if (!right) {
                violations.add(
                        "Run '%s' got the answers %s, which its children did not give.".formatted(run.id(), values));
            }
        });
        return violations;
    }
}
