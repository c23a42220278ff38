package dev.perdure.torture.work;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Runs with three children each, with pauses of different lengths between them. One in four is cancelled, half of these
 * right after their start and half later: it has one outcome, and so have all below.
 */
public final class Families implements Workload {
    private static final int CHILDREN = 3;
    private static final int ONE_IS_CANCELLED_OF = 4;
    private static final int PAUSES = 7;
    private static final Duration PAUSE = Duration.ofMillis(20);

    private static Definition<Integer, Integer> child(OutsideLedger ledger) {
        return Definition.of("child", Integer.class, Integer.class, (ctx, number) -> {
            String run = ctx.runId().value();
            ctx.step("work", () -> ledger.write(run, "work"));
            return number;
        });
    }

    private static Definition<Integer, Integer> parent(OutsideLedger ledger) {
        return Definition.of("parent", Integer.class, Integer.class, (ctx, number) -> {
            List<Child<Integer>> children = new ArrayList<>();
            for (int child = 0; child < CHILDREN; child++) {
                children.add(ctx.startChild(Invocation.of(child(ledger), number + child)));
                ctx.sleep(PAUSE.multipliedBy(number % PAUSES));
            }
            return children.stream().mapToInt(Child::await).sum();
        });
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
        Run<Integer> run = client.start(Invocation.of(parent(parts.ledger()), number), StartOptions.id(id(number)));
        if (number % (2 * ONE_IS_CANCELLED_OF) == 0) {
            run.cancel("enough");
        }
        if (number % (2 * ONE_IS_CANCELLED_OF) == ONE_IS_CANCELLED_OF + 1) {
            client.run(RunId.of(id(number - 1)), TypeRef.of(Integer.class)).cancel("enough by now");
        }
    }

    private static String id(int number) {
        return "families-" + number;
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
        Run<Integer> run = seen.client().run(RunId.of(id(number)), TypeRef.of(Integer.class));
        if (run.state() == RunState.CANCELLED) {
            return Optional.empty();
        }
        int sum = IntStream.range(0, CHILDREN).map(child -> number + child).sum();
        return run.resultNow().equals(Optional.of(sum))
                ? Optional.empty()
                : Optional.of("Run '%s' gave %s instead of %d.".formatted(run.id(), run.resultNow(), sum));
    }
}
