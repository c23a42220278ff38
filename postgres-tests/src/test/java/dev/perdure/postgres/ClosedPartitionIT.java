package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.ShardServer;
import dev.perdure.queue.Limiter;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a shard does with a partition that a move has closed. */
final class ClosedPartitionIT extends TwoShards {
    @Test
    void a_turn_at_a_limiter_leaves_out_runs_of_a_closed_partition() throws SQLException {
        a.permits().declare(List.of(Limiter.named("partner").concurrency(1)));
        int closed = unused();
        int open = unused();
        RunRef holder = onA.start(id(open, "holder"));
        RunRef waiting = onA.start(id(closed, "waiting"));
        RunRef asking = onA.start(id(closed, "asking"));
        RunRef behind = onA.start(id(open, "behind"));
        assertThat(permits(holder, waiting)).containsExactly(Permits.Answer.HELD, Permits.Answer.WAITS);
        Awaited permit = new Awaited(Set.of(), 1, Set.of("partner"));
        Move wait = new Move.Wait(RunState.SUSPENDED, new Due.Never(), permit, 0);
        onA.apply(new Change.Advance(waiting, 1, List.of(), wait));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(closed, from, to).close();
        }
        onA.apply(append(holder, 1)); // which gives the permit back

        assertThat(a.dispatch().poll(onA.poll(0)).claimed()).isEmpty();
        assertThat(a.runs().find(waiting.id()).orElseThrow().info().state()).isEqualTo(RunState.SUSPENDED);
        assertThat(permits(asking, behind)).containsExactly(Permits.Answer.MOVING, Permits.Answer.HELD);
        onA.apply(append(behind, 1));

        shards.move(List.of(closed), "a", said::add);
        a.dispatch().poll(onA.poll(0));
        assertThat(a.runs().find(waiting.id()).orElseThrow().info().state()).isEqualTo(RunState.READY);
        execute(
                databaseA.dataSource(),
                "DELETE FROM perdure.permit; DELETE FROM perdure.limiter"); // which no other test has divided
    }

    private List<Permits.Answer> permits(RunRef... runs) {
        return a.permits()
                .take(
                        onA.worker,
                        Stream.of(runs)
                                .map(run -> new Permits.Request("partner", run, 1, 1, 1))
                                .toList());
    }

    @Test
    void a_closed_partition_takes_no_changes_and_delays_no_others() {
        int partition = unused();
        RunRef held = fill(partition);
        RunRef neighbour = onA.start(id(unused(), "neighbour"));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        assertThatThrownBy(() -> onA.apply(List.of(append(held, 2), append(neighbour, 1))))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.MOVING))
                .hasMessage("The partition of '%s' moves to another shard, or has moved; waiting for it."
                        .formatted(held.id()));
        assertThat(a.journals().read(held, 0, 100).entries()).hasSize(1);
        assertThat(a.journals().read(neighbour, 0, 100).entries()).hasSize(1);
        assertThat(a.exchange().orElseThrow().closed()).contains(partition);
        assertThatThrownBy(() -> a.ledger().apply(Lane.client(0), List.of(message(held, "news"))))
                .isInstanceOf(StoreException.class);

        shards.move(List.of(partition), "a", said::add); // back to where it is
        assertThat(a.exchange().orElseThrow().closed()).doesNotContain(partition);
        assertThat(onA.apply(append(held, 2))).isInstanceOf(Outcome.Applied.class);
        assertThat(shards.map().owners().get(partition)).isEqualTo("a");
    }

    /** The start keys that may name them are set aside. */
    @Test
    void retention_leaves_out_runs_of_a_closed_partition() throws SQLException {
        int partition = unused();
        fill(partition);
        RunId ended = RunId.of(id(partition, "ended"));
        execute(
                databaseA.dataSource(),
                "UPDATE perdure.run SET created_at = now() - interval '9 days', changed_at = now() - interval '9 days' WHERE id = '%s'"
                        .formatted(ended));
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        removeOld(Duration.ofDays(1));
        assertThat(a.runs().find(ended)).isPresent();
        shards.move(List.of(partition), "a", said::add);
        removeOld(Duration.ofDays(2));
        assertThat(a.runs().find(ended)).isEmpty();
    }

    /** Of a group that is larger than a batch, the runs are marked before any is removed. */
    @Test
    void retention_leaves_out_large_groups_of_a_closed_partition() throws SQLException {
        int partition = unused();
        RunRef parent = onA.start(id(partition, "parent"));
        RunRef child = started(StoreFixture.child(parent, id(partition, "child"), 1));
        onA.apply(complete(child));
        onA.apply(complete(parent));
        execute(
                databaseA.dataSource(),
                "UPDATE perdure.run SET created_at = now() - interval '9 days', changed_at = now() - interval '9 days' WHERE partition = "
                        + partition);
        try (ShardServer from = new ShardServer("a", databaseA.dataSource(), SCHEMA);
                ShardServer to = new ShardServer("b", databaseB.dataSource(), SCHEMA)) {
            move(partition, from, to).close();
        }
        removeOld(Duration.ofDays(3), 1);
        assertThat(a.runs().find(parent.id())).isPresent();
        shards.move(List.of(partition), "a", said::add);
        await().untilAsserted(
                        () -> { // after a moment: the batch before has found them locked
                            removeOld(Duration.ofDays(4), 1);
                            assertThat(a.runs().find(parent.id())).isEmpty();
                        });
        assertThat(a.runs().find(child.id())).isEmpty();
    }

    private void removeOld(Duration period) {
        removeOld(period, 1_000);
    }

    private void removeOld(Duration period, int batch) {
        a.removals().declare(Retention.of(period));
        while (a.removals().remove(batch).again().isZero()) {
            Thread.onSpinWait();
        }
    }
}
