package dev.perdure.torture.work;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.StartOptions;
import dev.perdure.object.ObjectHandle;
import java.util.List;
import java.util.stream.IntStream;

/** Calls of virtual objects that append to lists: each list is complete, in order, and without a duplicate. */
public final class Appends implements Workload {
    private static final int KEYS = 5;

    @Override
    public String name() {
        return "appends";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(new Ledgers());
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        ObjectHandle<Ledgers> ledger = client.object(Ledgers.class, key(number));
        StartOptions options = StartOptions.id("appends-" + number);
        if (number % 2 == 0) {
            ledger.send(Ledgers::append, number, options);
        } else {
            ledger.send(Ledgers::appendInTwo, number, options);
        }
    }

    private static String key(int number) {
        return "key-" + number % KEYS;
    }

    @Override
    public List<String> violations(Seen seen) {
        return IntStream.range(0, KEYS)
                .mapToObj(key -> violation(seen, key))
                .filter(each -> !each.isEmpty())
                .toList();
    }

    private static String violation(Seen seen, int key) {
        List<Integer> wanted =
                seen.numbers().filter(number -> number % KEYS == key).boxed().toList();
        List<Integer> lines = seen.client()
                .object(Ledgers.class, key(key))
                .state()
                .get(Ledgers.LINES)
                .orElse(List.of());
        return lines.equals(wanted) ? "" : "The list '%s' is %s.".formatted(key(key), lines);
    }
}
