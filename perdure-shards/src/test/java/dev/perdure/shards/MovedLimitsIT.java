package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresShards;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A move neither lets more runs begin than a limit allows nor loses places of it. */
@Tag("thorough")
@Timeout(120)
final class MovedLimitsIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Topic<String> GO_ON = Topic.of("go on", String.class);
    private static final Definition<String, String> WAITER = Definition.of(
            "waiter",
            String.class,
            String.class,
            (ctx, none) -> ctx.receive(GO_ON).await());
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Queue NARROW = Queue.named("narrow");
    private static final int PARTITION = 10; // of shard a
    private static final RunId RUN = idIn(PARTITION);

    private static RunId idIn(int partition) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> RunId.of("waiter-" + i))
                .filter(id -> Partitions.of(id) == partition)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void no_partition_moves_while_a_shard_has_given_more_than_its_share() {
        try (SharedPostgres.Fresh a = SharedPostgres.database("shares_a");
                SharedPostgres.Fresh b = SharedPostgres.database("shares_b");
                Store first = PostgresStore.on(a.dataSource()).open();
                Store second = PostgresStore.on(b.dataSource()).open();
                ShardedStore store = ShardedStore.over(shard("a", first), shard("b", second));
                PostgresShards shards = PostgresShards.of(Map.of("a", a.dataSource(), "b", b.dataSource()), "perdure");
                Perdure perdure = Perdure.on(store)
                        .register(WAITER)
                        .queues(NARROW.concurrency(4).rate(100, HOUR))
                        .start()) {
            List<Run<String>> runs = IntStream.of(12, 14)
                    .mapToObj(partition -> perdure.start(
                            Invocation.of(WAITER, ""),
                            id(idIn(partition).value()).queue("narrow")))
                    .toList();
            while (first.queues().find("narrow").orElseThrow().load().begun() < 2) {
                Thread.onSpinWait();
            }
            Map<Queue, String> given = Map.of(
                    NARROW.concurrency(2), "2 places",
                    NARROW.rate(2, HOUR), "2 units of the rate");
            given.forEach((limit, what) -> {
                perdure.queues().limit(limit);
                assertThatThrownBy(() -> shards.move(List.of(PARTITION), "b", step -> {}))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessage(
                                "Shard 'a' has given %s of the queue 'narrow', and its share is 1, so no partition moves: the other shards would give theirs too. Move partitions when enough of those runs have ended or, if it is a rate, when its period is over."
                                        .formatted(what));
                perdure.queues().reset("narrow");
            });
            perdure.queues().limit(NARROW.concurrency(2));
            runs.getFirst().send(GO_ON, "gone on");
            assertThat(runs.getFirst().result(SOON)).isEqualTo("gone on");
            shards.move(List.of(PARTITION, 16), "b", step -> {});
            assertThat(shards.map().owners().get(PARTITION)).isEqualTo("b");

            perdure.start(Invocation.of(WAITER, ""), id(idIn(253).value()).queue("narrow"));
            while (second.queues().find("narrow").orElseThrow().load().begun() < 1) {
                Thread.onSpinWait();
            }
            List<String> said = new ArrayList<>();
            assertThat(shards.balance(List.of(), said::add)).containsExactly(253);
            assertThat(said)
                    .anyMatch(sentence -> sentence.startsWith("Partition 253 cannot be moved now: 1 runs of it"));
            assertThat(shards.map().owners().subList(253, 256)).containsExactly("b", "a", "a");
        }
    }

    @Test
    void a_partition_with_places_stays_and_a_limit_is_divided_by_the_shards_before_one_moves() {
        try (SharedPostgres.Fresh a = SharedPostgres.database("limits_a");
                SharedPostgres.Fresh b = SharedPostgres.database("limits_b");
                Store first = PostgresStore.on(a.dataSource()).open();
                Store second = PostgresStore.on(b.dataSource()).open();
                ShardedStore store = ShardedStore.over(shard("a", first), shard("b", second));
                PostgresShards shards = PostgresShards.of(Map.of("a", a.dataSource(), "b", b.dataSource()), "perdure");
                Perdure perdure = Perdure.on(store)
                        .register(WAITER)
                        .queues(Queue.named("narrow").concurrency(3))
                        .start()) {
            Run<String> run =
                    perdure.start(Invocation.of(WAITER, ""), id(RUN.value()).queue("narrow"));
            while (first.queues().find("narrow").orElseThrow().load().begun() == 0) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> shards.move(List.of(PARTITION), "b", step -> {}))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Partition 10 cannot be moved now: 1 runs of it have begun in the queue 'narrow', which has limits, such as '%s', and each shard counts its own. Move the partition when they have ended, or let the queue count only runs that are at work."
                                    .formatted(RUN));
            run.send(GO_ON, "gone on");
            assertThat(run.result(SOON)).isEqualTo("gone on");

            first.queues()
                    .declare(List.of(Queue.named("old").concurrency(4))); // as a database had it before it was a shard
            assertThatThrownBy(() -> shards.move(List.of(PARTITION), "b", step -> {}))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The limits of the queue 'old' on shard 'a' are not divided by the 2 shards that were given, so no partition moves. Start the processes with the same shards, or set limits of at least 2.");
            store.queues().declare(List.of());
            shards.move(List.of(PARTITION), "b", step -> {});

            assertThat(shards.map().owners().get(PARTITION)).isEqualTo("b");
            assertThat(limit(first, "narrow").concurrency()).hasValue(2);
            assertThat(limit(second, "narrow").concurrency()).hasValue(1);
            assertThat(limit(store, "narrow")).isEqualTo(Queue.named("narrow").concurrency(3));
        }
    }

    @Test
    void the_places_and_the_rate_of_a_key_move_with_its_partition() {
        String key = "k33"; // of partition 10
        assertThat(Partitions.ofQueueKey(key)).isEqualTo(PARTITION);
        StartOptions ofKey = StartOptions.defaults().queue("narrow").key(key);
        try (SharedPostgres.Fresh a = SharedPostgres.database("keys_a");
                SharedPostgres.Fresh b = SharedPostgres.database("keys_b");
                Store first = PostgresStore.on(a.dataSource()).open();
                Store second = PostgresStore.on(b.dataSource()).open();
                ShardedStore store = ShardedStore.over(shard("a", first), shard("b", second));
                PostgresShards shards = PostgresShards.of(Map.of("a", a.dataSource(), "b", b.dataSource()), "perdure");
                Perdure perdure = Perdure.on(store)
                        .register(WAITER)
                        .queues(NARROW.rate(100, HOUR))
                        .start()) {
            Run<String> parted = perdure.start(
                    Invocation.of(WAITER, ""),
                    id(idIn(12).value()).queue("narrow").key(key));
            while (first.queues().find("narrow").orElseThrow().load().begun() == 0) {
                Thread.onSpinWait();
            }
            perdure.queues().limit(NARROW.perKey(1).ratePerKey(2, HOUR));
            for (int partition : List.of(12, PARTITION)) {
                assertThatThrownBy(() -> shards.move(List.of(partition), "b", step -> {}))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessage(
                                "Partition %d cannot be moved now: the run '%s' has begun in the queue 'narrow', which limits keys, and its id leads to another partition than its key 'k33', so that one of both would stay. Move the partition when the run has ended."
                                        .formatted(partition, parted.id()));
            }
            parted.send(GO_ON, "gone on"); // its key is counted on the same shard
            assertThat(parted.result(SOON)).isEqualTo("gone on");

            Run<String> holder = perdure.start(Invocation.of(WAITER, ""), ofKey);
            while (first.queues().find("narrow").orElseThrow().load().begun() == 0) {
                Thread.onSpinWait();
            }
            Run<String> next = perdure.start(Invocation.of(WAITER, ""), ofKey);
            shards.move(List.of(PARTITION), "b", step -> {});
            String full = "The key 'k33' of the queue 'narrow' is full: 1 of 1 places are taken, by '%s'."
                    .formatted(holder.id());
            while (!next.info().reason().equals(Optional.of(full))) {
                Thread.onSpinWait();
            }
            assertThat(second.queues().find("narrow").orElseThrow().load().begun())
                    .isEqualTo(1);
            holder.send(GO_ON, "moved");
            assertThat(holder.result(SOON)).isEqualTo("moved");
            next.send(GO_ON, "next");
            assertThat(next.result(SOON)).isEqualTo("next");

            Run<String> third =
                    perdure.start(Invocation.of(WAITER, ""), ofKey); // one of the two began on the other shard
            while (third.info()
                    .reason()
                    .filter(reason ->
                            reason.startsWith("The rate of the key 'k33' of the queue 'narrow' allows no more before "))
                    .isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    private static Queue limit(Store store, String queue) {
        Optional<QueueInfo> info = store.queues().find(queue);
        return info.orElseThrow().limits();
    }
}
