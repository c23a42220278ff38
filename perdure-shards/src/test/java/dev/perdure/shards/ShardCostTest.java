package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How many requests to the stores several shards cost. */
final class ShardCostTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int RUNS = 200;
    private static final int MESSAGES = 20;
    /** How often a forwarder looks by itself in its first second, and some more. */
    private static final long FIRST_LOOKS = 8;

    private static final Topic<Integer> NUMBERS = Topic.of("numbers", Integer.class);
    private static final Definition<Integer, Integer> TWICE =
            Definition.of("twice", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));
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

    private final AtomicInteger next = new AtomicInteger();

    private static List<BreakableStore> stores(int count) {
        return Stream.generate(() -> new BreakableStore(new MemoryStore()))
                .limit(count)
                .toList();
    }

    private static ShardedStore over(List<BreakableStore> stores) {
        Shard[] shards = new Shard[stores.size()];
        for (int i = 0; i < shards.length; i++) {
            shards[i] = shard("s" + i, stores.get(i).store());
        }
        return ShardedStore.over(shards);
    }

    /** An engine whose runs stay in memory while they wait, however slow the machine is. */
    private static Perdure engine(ShardedStore store) {
        return Perdure.on(store)
                .register(TWICE)
                .register(RECEIVER)
                .register(SENDER)
                .warmWindow(SOON)
                .start();
    }

    private static long sum(List<BreakableStore> stores, String request) {
        return stores.stream().mapToLong(store -> store.requests(request)).sum();
    }

    private static long applied(List<BreakableStore> stores) {
        return sum(stores, "Ledger.apply");
    }

    private static void runAll(ShardedStore store) {
        try (Perdure perdure = engine(store)) {
            for (int i = 0; i < RUNS; i++) {
                assertThat(perdure.start(Invocation.of(TWICE, i)).result(SOON)).isEqualTo(2 * i);
            }
        }
    }

    @Test
    void what_stays_on_its_shard_costs_as_many_batches_as_on_one_and_no_look_at_what_crosses() {
        List<BreakableStore> alone = stores(1);
        List<BreakableStore> two = stores(2);
        long began = System.nanoTime();
        try (ShardedStore one = over(alone);
                ShardedStore several = over(two)) {
            runAll(one);
            runAll(several);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        assertThat(applied(two)).isEqualTo(applied(alone));
        assertThat(sum(two, "Exchange.look")).isLessThanOrEqualTo(2 * (FIRST_LOOKS + seconds));
    }

    private String idOn(ShardedStore store, int shard) {
        while (true) {
            String id = "run-" + next.getAndIncrement();
            if (store.parts().of(RunId.of(id)) == shard) {
                return id;
            }
        }
    }

    private void message(ShardedStore store, Perdure perdure, int shardOfSender) {
        String receiver = idOn(store, 0);
        Run<Integer> receiving = perdure.start(Invocation.of(RECEIVER, 0), id(receiver));
        Run<Integer> sending = perdure.start(Invocation.of(SENDER, receiver), id(idOn(store, shardOfSender)));
        assertThat(receiving.result(SOON)).isEqualTo(1);
        assertThat(sending.result(SOON)).isEqualTo(1);
    }

    @Test
    void a_message_that_crosses_is_one_batch_there_and_one_removal_more() {
        List<BreakableStore> stores = stores(2);
        try (ShardedStore store = over(stores);
                Perdure perdure = engine(store)) {
            for (int i = 0; i < MESSAGES; i++) {
                message(store, perdure, 0);
            }
            long local = applied(stores);
            assertThat(sum(stores, "Exchange.remove")).isZero();
            for (int i = 0; i < MESSAGES; i++) {
                message(store, perdure, 1);
            }
            long began = System.nanoTime();
            while (sum(stores, "Exchange.remove") < MESSAGES && System.nanoTime() - began < SOON.toNanos()) {
                Thread.onSpinWait();
            }
            assertThat(applied(stores) - local).isEqualTo(local + MESSAGES);
            assertThat(sum(stores, "Exchange.remove")).isEqualTo(MESSAGES);
        }
    }
}
