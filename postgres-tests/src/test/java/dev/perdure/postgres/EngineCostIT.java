package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What whole runs cost in an engine with a worker. */
final class EngineCostIT extends CostMeasurement {
    /** The most round trips for the lease, polls and results that go by time, however long a busy machine takes. */
    private static int periodic(long began) {
        return (int) (10 * (1 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began)));
    }

    /** Three for each run; the rest is the lease and the poll, which go by time and not by runs. */
    @Test
    void an_engine_makes_three_round_trips_for_a_run_of_one_step_and_looks_for_nothing_meanwhile() {
        Definition<Integer, Integer> one =
                Definition.of("one", Integer.class, Integer.class, (ctx, in) -> ctx.step("same", () -> in));
        int runs = 100;
        try (Perdure perdure = Perdure.on(store).register(one).start()) {
            perdure.start(Invocation.of(one, 0)).result();
            proxy.reset();
            long began = System.nanoTime();
            for (int i = 0; i < runs; i++) {
                perdure.start(Invocation.of(one, i)).result();
            }
            assertThat(proxy.roundTrips()).isBetween(3 * runs, 3 * runs + runs / 2 + periodic(began));
        }
    }

    /**
     * A start, an end of each task, and the end of the DAG itself; nothing is claimed in between. In addition, the
     * caller that waits for the result asks for it once, because no worker has the DAG's own run in memory; and the
     * lease, the poll and the look for results go by time, a few a second, however long a busy machine takes.
     */
    @Test
    void an_engine_makes_a_round_trip_for_each_task_of_a_line_two_more_and_asks_once() {
        int length = 10;
        int runs = 30;
        Dag<Integer, Integer> line = Dag.of("line", Integer.class, dag -> {
            DagTask<Integer> last = dag.task("task-0", t -> t.input());
            for (int i = 1; i < length; i++) {
                last = dag.after(last).task("task-" + i, (t, number) -> number + 1);
            }
            return last;
        });
        try (Perdure perdure = Perdure.on(store).register(line).start()) {
            for (int i = 0; i < 10; i++) {
                perdure.start(line, i).result();
            }
            proxy.reset();
            long began = System.nanoTime();
            for (int i = 0; i < runs; i++) {
                assertThat(perdure.start(line, i).result()).isEqualTo(i + length - 1);
            }
            assertThat(proxy.roundTrips())
                    .isBetween((length + 2) * runs, (length + 3) * runs + runs / 2 + periodic(began));
        }
    }

    /**
     * What a run gets, that it takes it, and what it sends are one transition, which brings it to the other in memory:
     * nothing is claimed and no mailbox is read in between.
     */
    @Test
    void an_engine_makes_a_round_trip_for_each_message_between_two_runs_in_memory() {
        int messages = 100;
        Topic<Integer> ball = Topic.of("ball", Integer.class);
        Definition<String, Integer> player = Definition.of("player", String.class, Integer.class, (ctx, other) -> {
            int last = 0;
            while (last < messages) {
                last = ctx.receive(ball).await();
                ctx.send(RunId.of(other), ball, last + 1);
            }
            return last;
        });
        try (Perdure perdure = Perdure.on(store).register(player).start()) {
            Run<Integer> ping = perdure.start(Invocation.of(player, "pong"), StartOptions.id("ping"));
            perdure.start(Invocation.of(player, "ping"), StartOptions.id("pong"));
            proxy.reset();
            long began = System.nanoTime();
            ping.send(ball, 1);
            assertThat(ping.result()).isEqualTo(messages + 1);
            assertThat(proxy.roundTrips()).isBetween(messages, messages + messages / 2 + periodic(began));
        }
    }
}
