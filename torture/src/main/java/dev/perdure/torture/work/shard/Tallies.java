package dev.perdure.torture.work.shard;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.object.ObjectCalls;
import dev.perdure.torture.work.Ledgers;
import dev.perdure.torture.work.Seen;
import dev.perdure.torture.work.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Runs that call virtual objects, most of which are on other shards, and wait for the answers: each number is in its list
 * once, at the place that the answer named.
 */
public final class Tallies implements Workload {
    private static final int KEYS = 24;

    /** The places that a number got in the lists of two objects. */
    public record Places(int first, int second) {}

    private static Definition<Integer, Places> definition() {
        return Definition.of("tally", Integer.class, Places.class, (ctx, number) -> {
            ObjectCalls<Ledgers> first = ctx.object(Ledgers.class, key(number));
            ObjectCalls<Ledgers> second = ctx.object(Ledgers.class, key(number + 1));
            return new Places(first.call(Ledgers::append, number), second.call(Ledgers::appendInTwo, number));
        });
    }

    private static String key(int number) {
        return "tally-" + number % KEYS;
    }

    @Override
    public String name() {
        return "tallies";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(definition()).register(new Ledgers());
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(Invocation.of(definition(), number), StartOptions.id("tallies-" + number));
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        List<List<Integer>> lists = IntStream.range(0, KEYS)
                .mapToObj(key -> seen.client()
                        .object(Ledgers.class, key(key))
                        .state()
                        .get(Ledgers.LINES)
                        .orElse(List.of()))
                .toList();
        int lines = lists.stream().mapToInt(List::size).sum();
        if (lines != 2 * seen.started()) {
            violations.add(
                    "The lists have %d lines for %d runs that append two each.".formatted(lines, seen.started()));
        }
        seen.numbers().forEach(number -> {
            Run<Places> run = seen.client().run(RunId.of("tallies-" + number), TypeRef.of(Places.class));
            boolean right = run.resultNow()
                    .filter(places -> isAt(lists.get(number % KEYS), places.first(), number)
                            && isAt(lists.get((number + 1) % KEYS), places.second(), number))
                    .isPresent();
            if (!right) {
                violations.add(
                        "Run '%s' was told %s, and its number is not there.".formatted(run.id(), run.resultNow()));
            }
        });
        return violations;
    }

    private static boolean isAt(List<Integer> list, int place, int number) {
        return place <= list.size() && list.get(place - 1) == number;
    }
}
