package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import java.util.List;
import java.util.stream.IntStream;

/** Calls of virtual objects that count. Their state stays small, so that a soak may make as many as it likes. */
public final class Counts implements Workload {
    private static final int KEYS = 5;

    @Override
    public String name() {
        return "counts";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(new Ledgers());
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.object(Ledgers.class, key(number % KEYS)).send(Ledgers::count, StartOptions.id("counts-" + number));
    }

    private static String key(int number) {
        return "counter-" + number;
    }

    @Override
    public List<String> violations(Seen seen) {
        int counted = IntStream.range(0, KEYS)
                .map(key -> seen.client()
                        .object(Ledgers.class, key(key))
                        .state()
                        .get(Ledgers.COUNT)
                        .orElse(0))
                .sum();
        return counted == seen.started()
                ? List.of()
                : List.of("The counters have %d instead of %d.".formatted(counted, seen.started()));
    }
}
