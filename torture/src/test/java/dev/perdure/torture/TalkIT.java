package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Rally;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs that talk: in one process and between two. Prints what it measured; it fails only if something was lost, doubled
 * or out of order. Longer with {@code -Dtalk.balls=1000 -Dtalk.waiters=10000}.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class TalkIT {
    private static final int BALLS = Integer.getInteger("talk.balls", 100);
    private static final int WAITERS = Integer.getInteger("talk.waiters", 400);
    private static final Topic<String> WORD = Topic.of("word", String.class);

    @Test
    @Tag("thorough")
    void a_rally_in_one_process_keeps_every_message_once_and_in_order() throws Exception {
        try (Court court = new Court();
                Perdure worker = Perdure.on(court.store)
                        .register(Rally.definition())
                        .queues("ping", "pong")
                        .start()) {
            court.play(worker, "warm", BALLS);
            System.out.printf(
                    "talk: %.0f messages a second in one process, beside %.0f raw commits a second%n",
                    court.play(worker, "one", BALLS), court.rawCommits());
        }
    }

    @Test
    @Tag("thorough")
    void a_rally_between_two_processes_keeps_every_message_once_and_in_order() throws Exception {
        try (Court court = new Court();
                WorkerProcess ping = court.worker("ping").ready();
                WorkerProcess pong = court.worker("pong").ready()) {
            court.play(court.client, "warm", BALLS);
            System.out.printf(
                    "talk: %.0f messages a second between processes %d and %d, beside %.0f raw commits a second%n",
                    court.play(court.client, "two", BALLS), ping.pid(), pong.pid(), court.rawCommits());
        }
    }

    @Test
    @Tag("thorough")
    void many_waiters_cost_nothing_and_are_woken_in_one_go() throws Exception {
        Definition<String, String> waiter = Definition.of(
                "waiter",
                String.class,
                String.class,
                (ctx, kind) -> kind.equals("message")
                        ? ctx.receive(WORD).await()
                        : ctx.promise(WORD).await());
        try (Court court = new Court();
                Perdure worker = Perdure.on(court.store)
                        .register(waiter)
                        .warmWindow(Duration.ZERO)
                        .lease(Site.LEASE)
                        .start()) {
            List<String> kinds = IntStream.range(0, WAITERS)
                    .mapToObj(i -> i % 2 == 0 ? "message" : "promise")
                    .toList();
            long heapBefore = Footprint.usedHeap();
            List<Run<String>> runs =
                    worker.startAll(kinds, kind -> Invocation.of(waiter, kind), kind -> StartOptions.defaults());
            Awaitility.await()
                    .atMost(Court.PATIENCE)
                    .until(() -> court.count("SELECT count(*) FROM perdure.run WHERE state = 3") == WAITERS);
            assertThat(court.count("SELECT count(*) FROM perdure.held"))
                    .as("runs in memory")
                    .isZero();
            assertThat(court.count("SELECT count(*) FROM perdure.timer"))
                    .as("timers")
                    .isZero();
            Awaitility.await().atMost(Court.PATIENCE).until(() -> Footprint.threads("perdure-run-") == 0);
            assertThat(Footprint.instances("dev.perdure.internal.execution."))
                    .as("what executions are made of, in the heap")
                    .allSatisfy((name, count) -> assertThat(count).as(name).isLessThan(WAITERS / 10));
            long transactions = court.transactionsUntilTheLeaseIsRenewed();
            assertThat(transactions).as("transactions while they wait").isLessThan(WAITERS / 2);
            System.out.printf(
                    "talk: %d waiters: no thread, %d KB of heap in use (%d KB before), %d transactions in two renewals of the lease%n",
                    WAITERS, Footprint.usedHeap() / 1024, heapBefore / 1024, transactions);

            List<RunId> forMessages = new ArrayList<>();
            List<RunId> forPromises = new ArrayList<>();
            for (int i = 0; i < WAITERS; i++) {
                (i % 2 == 0 ? forMessages : forPromises).add(runs.get(i).id());
            }
            long begun = System.nanoTime();
            worker.sendAll(forMessages, WORD, run -> "go");
            worker.resolveAll(forPromises, WORD, run -> "go");
            for (Run<String> run : runs) {
                assertThat(run.result(Court.PATIENCE)).isEqualTo("go");
            }
            System.out.printf(
                    "talk: %d waiters woken and finished in %d ms%n",
                    WAITERS, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
        }
    }
}
