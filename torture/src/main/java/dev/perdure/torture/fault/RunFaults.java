package dev.perdure.torture.fault;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunConflictException;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Burst;
import dev.perdure.torture.work.Hasty;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** What runs do to the workers, and to each other. */
final class RunFaults {
    private static final Duration A_WHILE = Duration.ofSeconds(4);
    private static final Duration PATIENCE = Duration.ofMinutes(15);
    private static final Duration BETWEEN = Duration.ofMillis(100);
    private static final int AT_ONCE = 20;
    private static final int MOST_PAUSE_MILLIS = 60;
    private static final int MANY = 500;
    /** With fewer the store does not open. */
    private static final int FEWEST = 3;

    private RunFaults() {}

    static String cancel(Target target, Random chance) throws Exception {
        long hungUp = target.site().proxy().hungUp();
        long end = System.nanoTime() + A_WHILE.toNanos();
        int started = 0;
        int cancelled = 0;
        while (System.nanoTime() < end) {
            List<Run<Integer>> runs = started(() -> hasty(target.client()));
            started += runs.size();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(chance.nextInt(MOST_PAUSE_MILLIS)));
            for (Run<Integer> run : runs.subList(0, AT_ONCE / 2)) {
                until("the run is cancelled", () -> {
                    run.cancel("It takes too long.");
                    return true;
                });
                cancelled++;
            }
        }
        Run<Integer> last = started(() -> target.client()
                .start(Invocation.of(Hasty.definition(), 0), StartOptions.id("hasty-" + UUID.randomUUID())));
        until("the step has timed out", () -> last.resultNow().isPresent());
        int timeouts = last.resultNow().orElseThrow();
        if (cancelled == 0 || timeouts == 0) {
            throw new NoEffectException("%d runs cancelled, %d steps timed out".formatted(cancelled, timeouts));
        }
        return "%d of %d runs cancelled, the steps of the others timed out; %d connections closed without a goodbye"
                .formatted(cancelled, started, target.site().proxy().hungUp() - hungUp);
    }

    private static List<Run<Integer>> hasty(Perdure client) {
        List<Integer> inputs = IntStream.range(0, AT_ONCE).boxed().toList();
        return client.startAll(
                inputs,
                number -> Invocation.of(Hasty.definition(), number),
                number -> StartOptions.id("hasty-" + UUID.randomUUID()));
    }

    static String burst(Target target, Random chance) throws Exception {
        String name = "burst-" + UUID.randomUUID();
        try (WorkerProcess small =
                target.site().workers().beside(List.of(), List.of("pool=" + FEWEST, "queue=" + name))) {
            List<Integer> inputs = IntStream.range(0, MANY).boxed().toList();
            Instant begun = target.parts().ledger().now();
            List<Run<Integer>> runs = started(() -> target.client()
                    .startAll(
                            inputs,
                            number -> Invocation.of(Burst.definition(target.parts()), number),
                            number -> StartOptions.id(name + "-" + number).queue(name)));
            for (Run<Integer> run : runs) {
                until("all of the many runs have ended", () -> run.resultNow().isPresent());
            }
            Instant ended = target.parts().ledger().now();
            small.end();
            return "%d runs with %d connections in %,d ms; the longest time without a body was %,d ms"
                    .formatted(
                            MANY,
                            FEWEST,
                            Duration.between(begun, ended).toMillis(),
                            longestPause(target, name, begun).toMillis());
        } catch (IOException ended) {
            throw new NoEffectException("the worker ended while it joined: " + ended.getMessage());
        }
    }

    private static Duration longestPause(Target target, String name, Instant begun) throws Exception {
        List<Instant> times = target.parts().ledger().lines(name).stream()
                .map(Line::at)
                .sorted()
                .toList();
        Duration longest = Duration.ZERO;
        Instant before = begun;
        for (Instant at : times) {
            Duration pause = Duration.between(before, at);
            longest = pause.compareTo(longest) > 0 ? pause : longest;
            before = at;
        }
        return longest;
    }

    /** A worker process beside the others, started again if another fault ends it while it joins. */
    static WorkerProcess joined(Target target, List<String> options, List<String> more) throws IOException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return target.site().workers().beside(options, more);
            } catch (IOException ended) {
                if (System.nanoTime() > end) {
                    throw ended;
                }
            }
        }
    }

    /** Asks again while another fault keeps the store away. Ids make the starts idempotent. */
    static <T> T started(Supplier<T> start) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return start.get();
            } catch (RunConflictException itself) {
                throw itself; // each try has the same ids and inputs
            } catch (PerdureException away) {
                if (System.nanoTime() > end) {
                    throw away;
                }
                LockSupport.parkNanos(BETWEEN.toNanos());
            }
        }
    }

    static void until(String what, Supplier<Boolean> condition) {
        until(what, BETWEEN, condition);
    }

    static void until(String what, Duration between, Supplier<Boolean> condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!started(condition)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("It is not so within %s that %s.".formatted(PATIENCE, what));
            }
            LockSupport.parkNanos(between.toNanos());
        }
    }
}
