package dev.perdure.shards.content;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.shards.content.WaitGraph.Cycle;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.CallWaits.AwaitedRun;
import dev.perdure.spi.shard.CallWaits.Life;
import dev.perdure.spi.shard.CallWaits.Reason;
import dev.perdure.spi.shard.CallWaits.Wait;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cycles in what runs wait for. */
@Timeout(30)
final class WaitGraphTest {
    private static final int MANY = 10_000;

    private static Wait wait(long by, Reason reason, long on) {
        Instant created = Instant.EPOCH.plusSeconds(on);
        AwaitedRun awaited = new AwaitedRun(
                new RunRef(RunId.of("r" + on), on),
                0,
                RunState.PENDING,
                "order",
                null,
                new Change.Seen(created, created));
        return new Wait(new Life(by, 0), reason, awaited);
    }

    private static List<Cycle> cycles(List<Wait> waits) {
        WaitGraph graph = new WaitGraph();
        waits.forEach(graph::add);
        return graph.cycles();
    }

    @Test
    void a_long_line_without_a_cycle_is_gone_through_once() {
        List<Wait> line = new ArrayList<>();
        for (long run = 1; run < MANY; run++) {
            line.add(wait(run, run % 2 == 0 ? Reason.TURN : Reason.CALL_ACROSS, run + 1));
        }
        assertThat(cycles(line)).isEmpty();
    }

    @Test
    void cycles_without_a_common_run_are_found_with_all_that_wait_for_them_in_whatever_order() {
        List<Wait> waits = new ArrayList<>();
        for (long cycle = 0; cycle < 3; cycle++) {
            long first = 10 * cycle + 1;
            waits.add(wait(first, Reason.TURN, first + 1));
            waits.add(wait(first + 1, Reason.CALL_ACROSS, first));
            for (long behind = 0; behind < 500; behind++) {
                waits.add(wait(1_000 * (cycle + 1) + behind, Reason.TURN, first));
            }
        }
        waits.add(wait(1, Reason.CALL, 11)); // one leads to the next
        for (int seed = 0; seed < 5; seed++) {
            Collections.shuffle(waits, new Random(seed));
            assertThat(cycles(waits))
                    .extracting(Cycle::keys)
                    .containsExactly(List.of(1L, 2L), List.of(11L, 12L), List.of(21L, 22L));
        }
    }

    @Test
    void a_cycle_of_one_shard_is_left_to_that_shard() {
        assertThat(cycles(List.of(wait(1, Reason.TURN, 2), wait(2, Reason.CALL, 1))))
                .isEmpty();
    }

    @Test
    void a_cycle_is_the_same_only_if_all_its_waits_are_there() {
        List<Wait> waits = List.of(wait(1, Reason.TURN, 2), wait(2, Reason.CALL_ACROSS, 1));
        Cycle cycle = cycles(waits).getFirst();
        assertThat(cycle.in(waits)).isPresent();
        assertThat(cycle.in(waits.subList(0, 1))).isEmpty();
        assertThat(cycle.in(List.of(waits.getFirst(), wait(2, Reason.CALL, 1)))).isEmpty();
        assertThat(cycle.fromYoungest().orElseThrow().runs())
                .extracting(run -> run.run().key())
                .containsExactly(1L, 2L);
    }
}
