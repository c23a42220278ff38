package dev.perdure.benchmarks.perdure;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.benchmarks.cost.Cost;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.shards.Shard;
import dev.perdure.shards.ShardedStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What several shards cost: the processor time of workflows that stay on their shard, on two shards relative to one; and how
 * many commits a message from a run to a run of another shard needs more than one to a run of the same shard.
 *
 * <p>The first is measured with the same callers on two shards, which then share fewer commits, and with as many callers for each
 * of two shards as for one.
 *
 * <p>How it works: the shards are schemas of one database, so that the costs of the whole server are those of all shards.
 * Two engines, one with one shard and one with two, are measured in turns, and the figure is the median of the ratios.
 * Messages are sent by one caller, so that nothing shares a commit by chance.
 */
public final class ShardCosts {
    private static final int CALLERS = 64;
    private static final Topic<Integer> NUMBERS = Topic.of("numbers", Integer.class);
    private static final Definition<Integer, Integer> RECEIVER = Definition.of(
            "receiver",
            Integer.class,
            Integer.class,
            (ctx, none) -> ctx.receive(NUMBERS).await());
    private static final Definition<String, Integer> SENDER =
            Definition.of("sender", String.class, Integer.class, (ctx, to) -> {
                ctx.send(RunId.of(to), NUMBERS, 1);
                return 1;
            });

    private final List<HikariDataSource> pools = new ArrayList<>();
    private final ShardedStore store;
    private final Perdure perdure;
    private final AtomicInteger next = new AtomicInteger();

    private ShardCosts(Task task, String... schemas) {
        List<Shard> shards = new ArrayList<>();
        for (String schema : schemas) {
            HikariDataSource pool = task.database().pool();
            pools.add(pool);
            shards.add(shard(schema, PostgresStore.on(pool).schema(schema).open()));
        }
        store = ShardedStore.over(shards.toArray(Shard[]::new));
        perdure = Perdure.on(store)
                .register(PerdureSteps.STEPS)
                .register(RECEIVER)
                .register(SENDER)
                .start();
    }

    private void close() {
        perdure.close();
        store.close();
        pools.forEach(HikariDataSource::close);
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        ShardCosts one = new ShardCosts(task, "alone");
        try {
            ShardCosts two = new ShardCosts(task, "first", "second");
            try {
                measureLocal(task, one, two);
                measureMessages(task, two);
            } finally {
                two.close();
            }
        } finally {
            one.close();
        }
    }

    private static void measureLocal(Task task, ShardCosts one, ShardCosts two) throws Exception {
        task.results().progress("shards.local");
        for (ShardCosts engine : List.of(one, two)) {
            Burst.during(task.scale().warmUp(), CALLERS, engine::workflow);
        }
        int turns = task.scale().choose(15, 5, 1);
        double[] ratios = new double[turns];
        double[] ratiosOfMore = new double[turns];
        List<Cost> onOne = new ArrayList<>();
        List<Cost> onTwo = new ArrayList<>();
        List<Cost> ofMore = new ArrayList<>();
        for (int turn = 0; turn < turns; turn++) {
            onOne.add(one.turn(task, CALLERS));
            onTwo.add(two.turn(task, CALLERS));
            ofMore.add(two.turn(task, 2 * CALLERS));
            ratios[turn] = processorTime(onTwo.getLast()) / processorTime(onOne.getLast());
            ratiosOfMore[turn] = processorTime(ofMore.getLast()) / processorTime(onOne.getLast());
        }
        task.results().figure("shards.local.cost", Unit.RATIO, ratios);
        task.results().figure("shards.local.cost_of_more", Unit.RATIO, ratiosOfMore);
        task.results().cost("shards.one", onOne);
        task.results().cost("shards.two", onTwo);
        task.results().cost("shards.more", ofMore);
    }

    private void workflow() {
        PerdureSteps.run(perdure, 1);
    }

    private Cost turn(Task task, int callers) throws Exception {
        Metered<Burst> metered =
                task.meter().measure(() -> Burst.during(task.scale().round().dividedBy(2), callers, this::workflow));
        return metered.cost().per(metered.result().count());
    }

    private static double processorTime(Cost cost) {
        return cost.process() + cost.server();
    }

    private static void measureMessages(Task task, ShardCosts engine) throws Exception {
        task.results().progress("shards.message");
        Cost local = engine.messages(task, 0);
        Cost crossing = engine.messages(task, 1);
        task.results().figure("shards.message.commits", Unit.COUNT, crossing.commits() - local.commits());
        task.results().cost("shards.message.local", List.of(local));
        task.results().cost("shards.message.crossing", List.of(crossing));
    }

    /** The cost of a run that receives a message, and of one on this shard that sends it. */
    private Cost messages(Task task, int shardOfSender) throws Exception {
        Load.of(1, task.scale().warmUp().dividedBy(4), () -> message(shardOfSender));
        Metered<Load> metered =
                task.meter().measure(() -> Load.of(1, task.scale().round(), () -> message(shardOfSender)));
        return metered.cost().per(metered.result().operations());
    }

    private void message(int shardOfSender) {
        String receiver = idOn(0);
        Run<Integer> receiving = perdure.start(Invocation.of(RECEIVER, 0), id(receiver));
        perdure.start(Invocation.of(SENDER, receiver), id(idOn(shardOfSender)));
        receiving.result();
    }

    private String idOn(int shard) {
        while (true) {
            String id = "run" + next.getAndIncrement();
            if (store.parts().of(RunId.of(id)) == shard) {
                return id;
            }
        }
    }
}
