package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Several at once. Each race is run often; what must hold holds whichever wins. */
public abstract class RaceConformance extends StoreConformance {
    /** For subclasses. */
    protected RaceConformance() {}

    private static <T> List<T> race(List<Callable<T>> racers) throws InterruptedException, ExecutionException {
        CyclicBarrier start = new CyclicBarrier(racers.size());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<T>> futures = new ArrayList<>();
            for (Callable<T> racer : racers) {
                futures.add(threads.submit(() -> {
                    start.await();
                    return racer.call();
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get());
            }
            return results;
        }
    }

    /** Lets them take runs at once until so many are taken, each by one of them. If one fails the others stop too. */
    private static void takeAll(int count, List<Supplier<Stream<RunId>>> takers) throws Exception {
        Set<RunId> taken = ConcurrentHashMap.newKeySet();
        AtomicBoolean failed = new AtomicBoolean();
        race(takers.stream()
                .<Callable<Boolean>>map(taker -> () -> {
                    try {
                        while (taken.size() < count && !failed.get()) {
                            taker.get().forEach(id -> assertThat(taken.add(id)).isTrue());
                        }
                        return true;
                    } catch (Throwable e) {
                        failed.set(true);
                        throw e;
                    }
                })
                .toList());
        assertThat(taken).hasSize(count);
    }

    @Test
    void claimers_never_share_a_run_and_leave_none() throws Exception {
        List<Change> starts = IntStream.range(0, 600)
                .<Change>mapToObj(i -> new Change.Start(newRun("run-" + i), null))
                .toList();
        store().ledger().apply(Lane.client(0), starts);

        List<Supplier<Stream<RunId>>> claimers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            WorkerId worker = join();
            claimers.add(() -> polled(worker, 25).claimed().stream()
                    .map(claimed -> claimed.run().id()));
        }

        takeAll(600, claimers);
    }

    @Test
    void starters_of_one_id_agree_on_one_run() throws Exception {
        for (int round = 0; round < 20; round++) {
            String id = "run-" + round;
            List<Callable<Outcome>> starters = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                starters.add(() -> apply(Lane.client(0), new Change.Start(newRun(id), null)));
            }
            List<Outcome> outcomes = race(starters);

            assertThat(outcomes).filteredOn(Outcome.Started.class::isInstance).hasSize(1);
            assertThat(outcomes).filteredOn(Outcome.Existing.class::isInstance).hasSize(3);
        }
    }

    @Test
    void a_wake_up_is_never_lost_between_command_and_suspension() throws Exception {
        WorkerId worker = join();
        for (int round = 0; round < 50; round++) {
            RunRef run = startOwned(worker, "run-" + round);
            List<Outcome> outcomes = race(List.of(
                    () -> apply(worker, advance(run, 1, sleep(Duration.ofHours(1)), step(1, "1"))),
                    () -> command(run, CommandKind.CANCEL, "enough")));

            boolean woken = outcomes.get(0) instanceof Outcome.Woken;
            assertThat(stateOf(run)).isEqualTo(woken ? RunState.RUNNING : RunState.READY);
            assertThat(journalOf(run)).hasSize(1);
        }
    }

    @Test
    void completion_and_kill_give_one_outcome() throws Exception {
        WorkerId worker = join();
        for (int round = 0; round < 30; round++) {
            RunRef run = startOwned(worker, "run-" + round);
            apply(worker, advance(run, 1, new Move.Yield()));
            long epoch = claimOne(worker).epoch();
            List<Outcome> outcomes = race(List.of(
                    () -> apply(worker, advance(run, epoch, complete("1"))),
                    () -> command(run, CommandKind.KILL, "gone")));

            assertThat(outcomes.get(0)).isEqualTo(new Outcome.Applied(now(), RunState.COMPLETED));
            assertThat(store().runs().ended(List.of(run)).getFirst().outcome()).isEqualTo(payload("1"));
        }
    }

    @Test
    void of_two_that_end_at_once_exactly_one_opens_what_comes_after_both() throws Exception {
        List<WorkerId> workers = List.of(join(), join());
        for (int round = 0; round < 50; round++) {
            String id = "dag-" + round;
            List<Task> tasks = List.of(
                    new Task(newRun(id + "/a"), List.of()),
                    new Task(newRun(id + "/b"), List.of()),
                    new Task(newRun(id + "/join"), List.of(0, 1)));
            apply(Lane.client(0), new Change.Start(newRun(id), null, List.of(), tasks));
            List<Callable<Outcome>> enders = new ArrayList<>();
            for (WorkerId worker : workers) {
                Claimed held = claimOne(worker);
                Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 1);
                enders.add(() -> apply(worker, advance(held.run(), held.epoch(), end)));
            }
            List<Claimed> handed = race(enders).stream()
                    .flatMap(outcome -> ((Outcome.Applied) outcome).handed().stream())
                    .toList();

            assertThat(handed).hasSize(1);
            assertThat(handed.getFirst().premises()).hasSize(2);
            assertThat(changesOf(handed.getFirst().run())).containsExactly("PENDING", "RUNNING");
        }
    }

    @Test
    void a_kill_of_all_and_an_end_of_one_leave_nothing_waiting() throws Exception {
        WorkerId worker = join();
        for (int round = 0; round < 30; round++) {
            String id = "dag-" + round;
            List<Task> tasks = List.of(
                    new Task(newRun(id + "/a"), List.of()),
                    new Task(newRun(id + "/b"), List.of(0)),
                    new Task(newRun(id + "/c"), List.of(1)));
            Outcome.Started started =
                    (Outcome.Started) apply(worker, new Change.Start(newRun(id), worker, List.of(), tasks));
            Claimed a = started.handed().getFirst();
            Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 1);
            List<Outcome> outcomes = race(List.of(
                    () -> apply(worker, advance(a.run(), a.epoch(), end)),
                    () -> command(started.run(), CommandKind.KILL, "enough")));

            assertThat(stateOf(started.run())).isEqualTo(RunState.CANCELLED);
            for (Claimed b : ((Outcome.Applied) outcomes.getFirst()).handed()) {
                assertThat(polled(worker, 0).signalled()).hasSize(1);
                apply(worker, advance(b.run(), b.epoch(), end));
            }
            assertThat(store().runs().liveChildren(List.of(started.run()))).isEmpty();
        }
    }

    @Test
    void a_due_timer_fires_once_across_workers() throws Exception {
        WorkerId sleeper = join();
        for (int round = 0; round < 20; round++) {
            RunRef run = startOwned(sleeper, "run-" + round);
            Move wait = new Move.Wait(RunState.SUSPENDED, new Due.At(now()), 0);
            apply(sleeper, advance(run, 1, wait));
            List<WorkerId> workers = List.of(join(), join(), join());
            List<List<Claimed>> claims = race(workers.stream()
                    .<Callable<List<Claimed>>>map(
                            worker -> () -> polled(worker, 5).claimed())
                    .toList());
            List<Claimed> rest = polled(sleeper, 5).claimed();

            assertThat(claims.stream().mapToInt(List::size).sum() + rest.size()).isEqualTo(1);
            assertThat(changesOf(run)).containsExactly("RUNNING", "SUSPENDED", "READY", "RUNNING");
        }
    }

    @Test
    void batches_of_two_lanes_and_the_sweep_agree_on_which_was_first() throws Exception {
        for (int round = 0; round < 30; round++) {
            WorkerId worker = join();
            RunRef appends = startOwned(worker, "appends-" + round);
            RunRef ends = startOwned(worker, "ends-" + round);
            List<Object> results = race(List.of(
                    () -> apply(new Lane(worker, 0), advance(appends, 1, STAY, step(1, "1"))),
                    () -> apply(new Lane(worker, 1), advance(ends, 1, complete("1"))),
                    () -> {
                        store().leases().leave(worker);
                        return store().leases().sweep(100);
                    }));

            boolean appended = results.get(0) instanceof Outcome.Applied;
            assertThat(journalOf(appends)).hasSize(appended ? 1 : 0);
            assertThat(stateOf(appends)).isEqualTo(RunState.READY);
            boolean ended = results.get(1) instanceof Outcome.Applied;
            assertThat(stateOf(ends)).isEqualTo(ended ? RunState.COMPLETED : RunState.READY);
            assertThat((List<?>) results.get(2)).hasSize(ended ? 1 : 2).allMatch(RunChange.class::isInstance);
        }
    }

    @Test
    void sweepers_share_the_runs_of_the_dead() throws Exception {
        WorkerId worker = join();
        List<Change> starts = IntStream.range(0, 200)
                .<Change>mapToObj(i -> new Change.Start(newRun("run-" + i), worker))
                .toList();
        store().ledger().apply(new Lane(worker, 0), starts);
        store().leases().leave(worker);

        takeAll(
                200,
                Collections.nCopies(3, () -> store().leases().sweep(20).stream().map(RunChange::runId)));
    }
}
