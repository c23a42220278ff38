package dev.perdure.torture.work;

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
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Runs with three children each. One in four is cancelled while it works: it has one outcome, and so have all below. */
public final class Families implements Workload {
    private static final int CHILDREN = 3;
    private static final int ONE_IS_CANCELLED_OF = 4;

    private static Definition<Integer, Integer> child(OutsideLedger ledger) {
        return Definition.of("child", Integer.class, Integer.class, (ctx, number) -> {
            String run = ctx.runId().value();
            ctx.step("work", () -> ledger.write(run, "work"));
            return number;
        });
    }

    private static Definition<Integer, Integer> parent(OutsideLedger ledger) {
        return Definition.of(
                "parent",
                Integer.class,
                Integer.class,
                (ctx, number) -> IntStream.range(0, CHILDREN)
                        .mapToObj(child -> ctx.startChild(Invocation.of(child(ledger), number + child)))
                        .toList()
                        .stream()
                        .mapToInt(child -> child.await())
                        .sum());
    }

    @Override
    public String name() {
        return "families";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(parent(parts.ledger()), child(parts.ledger()));
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        Run<Integer> run =
                client.start(Invocation.of(parent(parts.ledger()), number), StartOptions.id("families-" + number));
        if (number % ONE_IS_CANCELLED_OF == 0) {
            run.cancel("enough");
        }
    }

    @Override
    public boolean mayBeCancelled(String run) {
        int number = Integer.parseInt(run.replaceFirst("families-(\\d+).*", "$1"));
        return number % ONE_IS_CANCELLED_OF == 0;
    }

    @Override
    public List<String> violations(Seen seen) {
        return seen.numbers()
                .mapToObj(number -> violation(seen, number))
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<String> violation(Seen seen, int number) {
        Run<Integer> run = seen.client().run(RunId.of("families-" + number), TypeRef.of(Integer.class));
        if (run.state() == RunState.CANCELLED) {
            return Optional.empty();
        }
        int sum = IntStream.range(0, CHILDREN).map(child -> number + child).sum();
        return run.resultNow().equals(Optional.of(sum))
                ? Optional.empty()
                : Optional.of("Run '%s' gave %s instead of %d.".formatted(run.id(), run.resultNow(), sum));
    }
}
