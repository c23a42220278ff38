package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.postgres.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** W7: the same work in an empty database, and in one with millions of finished runs. */
public final class Growth {
    private static final int CALLERS = 64;
    private static final int STEPS = 100;

    /**
     * What one round has measured.
     *
     * @param claims runs a second that were ready when a worker opened, until all have ended
     * @param lists lists of the newest runs of a definition, a second
     * @param shows runs shown with their histories, a second
     */
    private record Round(Metered<Load> runs, Metered<Burst> steps, double claims, double lists, double shows) {
        double runRate() {
            return runs.result().perSecond();
        }

        double stepRate() {
            return steps.result().perSecond() * STEPS;
        }
    }

    private final Task task;
    private final AtomicLong ended = new AtomicLong();

    private Growth(Task task) {
        this.task = task;
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        Growth growth = new Growth(task);
        long count = task.scale().choose(task.finished(), 200_000L, 1_000L);
        task.results().progress("w7 empty");
        Rounds<Round> empty = growth.rounds();
        task.results().progress("w7: writing %,d finished runs".formatted(count));
        Instant began = Instant.now();
        FinishedRuns.write(task.database(), count);
        task.results().figure("w7.fill", Unit.SECONDS, (double)
                Duration.between(began, Instant.now()).toSeconds());
        task.results().progress("w7 full");
        Rounds<Round> full = growth.rounds();
        growth.report("empty", empty);
        growth.report("full", full);
        growth.compare("w7.w1", empty, full, Round::runRate);
        growth.compare("w7.w2", empty, full, Round::stepRate);
        growth.compare("w7.claims", empty, full, Round::claims);
        growth.compare("w7.lists", empty, full, Round::lists);
        growth.compare("w7.shows", empty, full, Round::shows);
    }

    private void compare(String metric, Rounds<Round> empty, Rounds<Round> full, ToDoubleFunction<Round> rate) {
        task.results().figure(metric + ".ratio", Unit.RATIO, full.median(rate) / empty.median(rate));
    }

    private Rounds<Round> rounds() throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open()) {
            Perdure perdure = open(store);
            try {
                Load.of(CALLERS, task.scale().warmUp(), () -> PerdureSteps.run(perdure, 1));
                lists(perdure);
                shows(perdure);
            } finally {
                perdure.close();
            }
            // The server would do it within a minute, in some rounds and not in others.
            task.database().execute("ANALYZE");
            return Rounds.of(task, () -> round(store));
        }
    }

    private Perdure open(PostgresStore store) {
        return Perdure.on(store)
                .register(PerdureSteps.STEPS)
                .listener(change -> ended.addAndGet(change.state().isTerminal() ? 1 : 0))
                .start();
    }

    private Round round(PostgresStore store) throws Exception {
        int waiting = task.scale().choose(20_000, 5_000, 50);
        try (Perdure client = Perdure.on(store).client()) {
            client.startAll(
                    IntStream.range(0, waiting).boxed().toList(),
                    number -> Invocation.of(PerdureSteps.STEPS, 1),
                    number -> StartOptions.defaults());
        }
        long before = ended.get();
        long began = System.nanoTime();
        try (Perdure perdure = open(store)) {
            while (ended.get() - before < waiting) {
                Thread.sleep(Duration.ofMillis(1));
            }
            double claims = waiting * 1e9 / (System.nanoTime() - began);
            Duration time = task.scale().round();
            return new Round(
                    task.meter().measure(() -> Load.of(CALLERS, time, () -> PerdureSteps.run(perdure, 1))),
                    task.meter().measure(() -> Burst.during(time, CALLERS, () -> PerdureSteps.run(perdure, STEPS))),
                    claims,
                    lists(perdure).perSecond(),
                    shows(perdure).perSecond());
        }
    }

    /** As the command {@code runs list} and the dashboard do. */
    private Load lists(Perdure perdure) throws Exception {
        RunFilter filter = RunFilter.all().definition(PerdureSteps.STEPS.name()).limit(50);
        return Load.of(
                1, task.scale().round().dividedBy(2), () -> perdure.runs(filter).list());
    }

    /** As the command {@code runs show} does. */
    private Load shows(Perdure perdure) throws Exception {
        RunId id = perdure.start(Invocation.of(PerdureSteps.STEPS, 1)).id();
        Run<Integer> run = perdure.run(id, TypeRef.of(Integer.class));
        run.result();
        return Load.of(1, task.scale().round().dividedBy(2), () -> {
            run.info();
            run.history();
        });
    }

    private void report(String state, Rounds<Round> rounds) {
        rounds.figure("w7.w1." + state, Unit.PER_SECOND, Round::runRate);
        rounds.cost(
                "w7.w1." + state,
                round -> round.runs().cost().per(round.runs().result().operations()));
        rounds.figure("w7.w2." + state, Unit.PER_SECOND, Round::stepRate);
        rounds.cost(
                "w7.w2." + state,
                round -> round.steps().cost().per(round.steps().result().count() * STEPS));
        rounds.figure("w7.claims." + state, Unit.PER_SECOND, Round::claims);
        rounds.figure("w7.lists." + state, Unit.PER_SECOND, Round::lists);
        rounds.figure("w7.shows." + state, Unit.PER_SECOND, Round::shows);
    }
}
