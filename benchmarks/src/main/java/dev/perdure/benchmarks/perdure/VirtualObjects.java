package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.postgres.PostgresStore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Exclusive calls of virtual objects that count in their state, result awaited: all calls of one key, and of a thousand
 * keys.
 */
public final class VirtualObjects {
    private static final int CALLERS = 256;
    private static final int KEYS = 1_000;

    private VirtualObjects() {}

    /** A counter. */
    @VirtualObject("counter")
    public static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        /** Adds one and returns the count. */
        @Handler
        public int count(ObjectContext ctx) {
            int count = ctx.get(COUNT).orElse(0) + 1;
            ctx.set(COUNT, count);
            return count;
        }
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(new Counter()).start()) {
            int callers = task.scale().choose(CALLERS, CALLERS, 16);
            AtomicInteger turn = new AtomicInteger();
            Load.of(callers, task.scale().warmUp(), calling(perdure, () -> "key-" + turn.getAndIncrement() % KEYS));
            measure(task, "objects.hot", callers, calling(perdure, () -> "hot"));
            measure(task, "objects.keys1000", callers, calling(perdure, () -> "key-" + turn.getAndIncrement() % KEYS));
        }
    }

    private static Load.Action calling(Perdure perdure, Supplier<String> key) {
        return () -> perdure.object(Counter.class, key.get()).call(Counter::count);
    }

    private static void measure(Task task, String name, int callers, Load.Action call) throws Exception {
        task.results().progress(name);
        Load.of(callers, task.scale().warmUp().dividedBy(4), call);
        Rounds<Metered<Load>> rounds = Rounds.of(
                task,
                () -> task.meter().measure(() -> Load.of(callers, task.scale().round(), call)));
        rounds.figure(name, Unit.PER_SECOND, round -> round.result().perSecond());
        rounds.cost(name, round -> round.cost().per(round.result().operations()));
    }
}
