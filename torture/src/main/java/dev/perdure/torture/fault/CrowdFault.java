package dev.perdure.torture.fault;

import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Crowd;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A worker dies with very many runs in its memory, and three others go on, each with a small heap and with room for far
 * fewer. In a queue of their own, so that no other worker helps.
 */
final class CrowdFault {
    private static final int RUNS = 3_000;
    private static final int AT_ONCE = 500;
    private static final int SUCCESSORS = 3;

    private CrowdFault() {}

    static String crowd(Target target, Random chance) throws Exception {
        String queue = "crowd-" + UUID.randomUUID();
        List<Run<Integer>> runs = new ArrayList<>();
        List<WorkerProcess> successors = new ArrayList<>();
        try (WorkerProcess first = RunFaults.joined(target, List.of("queue=" + queue, "holds=true", "runs=" + RUNS))) {
            for (int from = 0; from < RUNS; from += AT_ONCE) {
                runs.addAll(start(target, queue, from));
            }
            RunFaults.until("the worker has all of the crowd", () -> held(target, first) == RUNS);
            for (int i = 0; i < SUCCESSORS; i++) {
                successors.add(RunFaults.joined(target, List.of("queue=" + queue)));
            }
            first.kill();
            Instant killed = target.parts().ledger().now();
            for (Run<Integer> run : runs) {
                RunFaults.until(
                        "all of the crowd have ended", () -> run.resultNow().isPresent());
            }
            if (!successors.stream().allMatch(WorkerProcess::isAlive)) {
                throw new IllegalStateException("A worker that took over a part of the crowd has ended.");
            }
            return seen(target, queue, killed);
        } finally {
            for (WorkerProcess successor : successors) {
                successor.end();
            }
        }
    }

    private static List<Run<Integer>> start(Target target, String queue, int from) {
        List<Integer> numbers = IntStream.range(from, from + AT_ONCE).boxed().toList();
        return RunFaults.started(() -> target.client()
                .startAll(
                        numbers,
                        number -> Invocation.of(Crowd.definition(target.parts().ledger()), number),
                        number -> StartOptions.id(queue + "-" + number).queue(queue)));
    }

    private static long held(Target target, WorkerProcess worker) {
        try {
            return ProcessFaults.held(target.site(), worker.pid());
        } catch (SQLException away) {
            return 0; // another fault
        }
    }

    private static String seen(Target target, String queue, Instant killed) throws SQLException {
        List<Line> lines = target.parts().ledger().lines().stream()
                .filter(line -> line.run().startsWith(queue))
                .toList();
        Map<Long, Long> shares =
                lines.stream().collect(Collectors.groupingBy(Line::pid, TreeMap::new, Collectors.counting()));
        return "%,d runs of a dead worker ended elsewhere, the first %,d ms after its death; bodies by process: %s"
                .formatted(RUNS, Duration.between(killed, lines.getFirst().at()).toMillis(), shares);
    }
}
