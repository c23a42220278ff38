package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.LockWaits;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * The same work by 1, 2, 4 and 8 worker processes on one machine and one database: jobs drained from a queue, and
 * one-step workflows of callers in these processes. So many processes have no more processors than one, so their rate
 * shows what they cost each other.
 */
public final class Workers {
    /** The queue of the jobs. It has no limits, and is paused while they are started. */
    static final Queue DRAINED = Queue.named("drained");

    private static final int CALLERS = 64;
    private static final int BATCH = 1_000;
    private static final int PARTS = 10;
    private static final int STEADY_PARTS = 3;
    private static final double RISES = 1.05;
    private static final String UNFINISHED = new PerdureQueue().unfinished();

    /**
     * What the processes did.
     *
     * @param operations the work
     * @param perSecond all processes together
     * @param lockWaits how many connections waited for a lock, on average
     */
    private record Round(long operations, double perSecond, double lockWaits) {}

    private interface Work {
        Round by(List<ChildProcess> processes) throws Exception;
    }

    private final Task task;
    private final Perdure client;
    private final Observer observer;
    private final List<ChildProcess> all;

    private Workers(Task task, Perdure client, Observer observer, List<ChildProcess> all) {
        this.task = task;
        this.client = client;
        this.observer = observer;
        this.all = all;
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        List<Integer> numbers = task.scale().choose(List.of(1, 2, 4, 8), List.of(1, 2, 4, 8), List.of(1, 2));
        List<ChildProcess> all = new ArrayList<>();
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client();
                Observer observer = new Observer(task.database())) {
            for (int i = 0; i < numbers.getLast(); i++) {
                all.add(ChildProcess.with(WorkerProcessMain.class, task.database()));
            }
            client.queues().declare(DRAINED);
            Workers workers = new Workers(task, client, observer, all);
            workers.warmUp();
            for (int number : numbers) {
                workers.measure(number);
            }
        } finally {
            all.forEach(ChildProcess::close);
        }
    }

    /** Each process alone, because many at once would share the processors, and none would be warm. */
    private void warmUp() throws Exception {
        for (ChildProcess process : all) {
            task.results().progress("workers warm-up");
            process.ask("open");
            warmUp(process);
            drain(List.of(process), task.scale().choose(5_000, 1_000, 20));
            process.ask("close");
        }
    }

    /** Until its rate no longer rises: a process that still compiles takes the processors from all others. */
    private void warmUp(ChildProcess process) throws Exception {
        long end = System.nanoTime() + task.scale().warmUp().toNanos();
        long part = task.scale().warmUp().dividedBy(PARTS).toMillis();
        double best = 0;
        int steady = 0;
        while (steady < STEADY_PARTS && System.nanoTime() < end) {
            double rate = load(List.of(process), part).perSecond();
            steady = rate > best * RISES ? 0 : steady + 1;
            best = Math.max(best, rate);
        }
    }

    private void measure(int number) throws Exception {
        List<ChildProcess> processes = all.subList(0, number);
        askAll(processes, "open");
        long millis = task.scale().round().toMillis();
        int jobs = task.scale().choose(20_000, 5_000, 50);
        measure("workers.w1.p" + number, processes, some -> load(some, millis));
        measure("workers.drain.p" + number, processes, some -> drain(some, jobs));
        askAll(processes, "close");
    }

    private void measure(String metric, List<ChildProcess> processes, Work work) throws Exception {
        task.results().progress(metric);
        work.by(processes);
        Meter meter = task.meter();
        for (ChildProcess process : processes) {
            meter = meter.with(process);
        }
        Meter withAll = meter;
        Rounds<Metered<Round>> rounds = Rounds.of(task, () -> withAll.measure(() -> work.by(processes)));
        rounds.figure(metric, Unit.PER_SECOND, round -> round.result().perSecond());
        rounds.figure(
                metric + ".lock_waits", Unit.COUNT, round -> round.result().lockWaits());
        rounds.cost(metric, round -> round.cost().per(round.result().operations()));
    }

    /** The callers are spread over the processes. */
    private Round load(List<ChildProcess> processes, long millis) throws Exception {
        try (LockWaits waits = LockWaits.watch(task.database())) {
            List<String> answers = askAll(processes, "load %d %d".formatted(CALLERS / processes.size(), millis));
            long operations = answers.stream()
                    .mapToLong(answer -> Long.parseLong(answer.split(" ")[0]))
                    .sum();
            double perSecond = answers.stream()
                    .mapToDouble(answer -> Double.parseDouble(answer.split(" ")[1]))
                    .sum();
            return new Round(operations, perSecond, waits.average());
        }
    }

    /** From the begin of the first job until all are finished. */
    private Round drain(List<ChildProcess> processes, int jobs) throws Exception {
        client.queues().pause(DRAINED.name(), "until all are started");
        for (int from = 0; from < jobs; from += BATCH) {
            client.startAll(
                    IntStream.range(from, Math.min(jobs, from + BATCH)).boxed().toList(),
                    number -> Invocation.of(PerdureQueue.job(unused -> {}), number),
                    number -> StartOptions.defaults().queue(DRAINED.name()));
        }
        try (LockWaits waits = LockWaits.watch(task.database())) {
            client.queues().resume(DRAINED.name());
            while (observer.number(UNFINISHED) > 0) {
                Thread.sleep(Duration.ofMillis(2));
            }
            long finished = Timestamps.now();
            long first = askAll(processes, "first").stream()
                    .mapToLong(Long::parseLong)
                    .min()
                    .orElseThrow();
            return new Round(jobs, jobs * 1e6 / (finished - first), waits.average());
        }
    }

    /** The answers of processes that work at the same time. */
    private static List<String> askAll(List<ChildProcess> processes, String command) throws Exception {
        List<Future<String>> answers;
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            answers = processes.stream()
                    .map(process -> executor.submit(() -> process.ask(command)))
                    .toList();
        }
        List<String> all = new ArrayList<>();
        for (Future<String> answer : answers) {
            all.add(answer.get());
        }
        return all;
    }
}
