package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.torture.Waking.Kind;
import dev.perdure.torture.setup.WorkerProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * How long it takes from a send, a resolve or the end of a child until the code that waits for it goes on: while the
 * run waits in memory, and after it has left it. Prints what it measured, beside a raw commit; it fails only if
 * something does not arrive. Only with {@code -Dtalk.times=300} or so, because it takes its time and shows nothing that
 * other tests do not.
 */
@EnabledIfSystemProperty(named = "talk.times", matches = "\\d+")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class WakingIT {
    private static final int TIMES = Integer.getInteger("talk.times", 10);
    private static final Duration IN_MEMORY = Duration.ofMinutes(1);
    private static final Duration OUT_OF_MEMORY = Duration.ZERO;

    @Test
    void wakes_what_waits_in_memory_in_the_same_process() throws Exception {
        inOneProcess(IN_MEMORY);
    }

    @Test
    void wakes_what_has_left_memory_in_the_same_process() throws Exception {
        inOneProcess(OUT_OF_MEMORY);
    }

    @Test
    void wakes_what_waits_in_memory_in_another_process() throws Exception {
        inTwoProcesses(IN_MEMORY);
    }

    @Test
    void wakes_what_has_left_memory_in_another_process() throws Exception {
        inTwoProcesses(OUT_OF_MEMORY);
    }

    private static void inOneProcess(Duration warmWindow) throws Exception {
        try (Court court = new Court();
                Perdure worker = Perdure.on(court.store)
                        .register(Waking.waiter(), Waking.errand())
                        .queues("ping", "pong")
                        .warmWindow(warmWindow)
                        .start()) {
            measure(court, worker, warmWindow, "one process");
        }
    }

    private static void inTwoProcesses(Duration warmWindow) throws Exception {
        try (Court court = new Court();
                WorkerProcess ping = court.worker("ping", warmWindow).ready();
                WorkerProcess pong = court.worker("pong", warmWindow).ready()) {
            measure(court, court.client, warmWindow, "processes %d and %d".formatted(ping.pid(), pong.pid()));
        }
    }

    private static void measure(Court court, Perdure sender, Duration warmWindow, String where) throws Exception {
        boolean leaves = warmWindow.isZero();
        for (Kind kind : Kind.values()) {
            wake(sender, kind, "warm", leaves);
            Percentiles took = new Percentiles(wake(sender, kind, "measured", leaves));
            Percentiles commit = new Percentiles(court.rawCommitMicros());
            System.out.printf(
                    "talk: %s in %s, to a run %s memory: p50 %d us, p99 %d us, beside a raw commit of p50 %d us%n",
                    kind, where, leaves ? "out of" : "in", took.of(50), took.of(99), commit.of(50));
        }
    }

    private static List<Long> wake(Perdure sender, Kind kind, String name, boolean leaves) {
        Run<Waking.Took> waiter = sender.start(
                Invocation.of(Waking.waiter(), new Waking.Task(kind, TIMES, "pong")),
                StartOptions.id(name + "-" + kind).queue("ping"));
        for (int time = 1; time <= TIMES; time++) {
            awaitWaiting(waiter, time, leaves);
            Topic<Long> topic = Waking.sent(time);
            switch (kind) {
                case MESSAGE -> waiter.send(topic, Waking.now());
                case PROMISE -> waiter.promise(topic).resolve(Waking.now());
                case CHILD -> {
                    RunId child = RunId.of(Waking.child(waiter.id().value(), time));
                    Run<Long> errand = sender.run(child, TypeRef.of(Long.class));
                    awaitWaiting(errand, time, leaves);
                    errand.send(Waking.GO, "on");
                }
            }
        }
        List<Long> micros = waiter.result(Court.PATIENCE).micros();
        assertThat(micros).hasSize(TIMES);
        return micros;
    }

    private static void awaitWaiting(Run<?> run, int time, boolean leaves) {
        Awaitility.await()
                .atMost(Court.PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> run.published(Waking.WAITS).orElse(0) == time
                        && (!leaves || run.state() == RunState.SUSPENDED));
    }
}
