package dev.perdure.testing.internal.simulation;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs histories, several at once, and shrinks the first that fails. */
public final class Histories {
    private static final int MOST_REPLAYS = 120;

    /** The code of a history, with its checks. */
    @FunctionalInterface
    public interface Test {
        /** Runs in the process of the test. */
        void run(World world) throws Throwable;
    }

    /**
     * A history that has been run.
     *
     * @param failure the failure, or null
     * @param faults the faults that happened in it
     * @param lines its timeline, if it was kept
     * @param turns how many turns it took
     */
    public record History(@Nullable Throwable failure, List<Choices.Happened> faults, List<String> lines, long turns) {}

    private final World.Shared shared;
    private final Test test;

    /** Histories of this test. */
    public Histories(World.Shared shared, Test test) {
        this.shared = shared;
        this.test = test;
    }

    /** Runs one history, and keeps its timeline. */
    public History trace(long seed) {
        return run(Choices.of(seed), Timeline.kept());
    }

    /** Runs one history. */
    public History run(long seed) {
        return run(Choices.of(seed), Timeline.forgotten());
    }

    private History run(Choices choices, Timeline timeline) {
        Scheduler scheduler = new Scheduler(choices, timeline);
        Throwable failure = null;
        try {
            World world = new World(shared, scheduler);
            scheduler.run(world.home(), () -> sneaky(world), world::processes);
        } catch (Throwable thrown) {
            failure = thrown;
        }
        return new History(failure, List.copyOf(choices.happened()), timeline.lines(), scheduler.turns());
    }

    private void sneaky(World world) {
        try {
            test.run(world);
        } catch (RuntimeException | Error thrown) {
            throw thrown;
        } catch (Throwable checked) {
            throw new IllegalStateException(checked);
        }
    }

    /**
     * Runs these seeds and stops at the first that fails.
     *
     * @param threads how many histories run at once
     * @throws SimulationFailure if one fails: the one with the smallest seed of those that ran
     */
    public void check(long first, long count, int threads) {
        AtomicLong next = new AtomicLong(first);
        AtomicReference<@Nullable Long> failed = new AtomicReference<>();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().daemon().name("histories-" + i).start(() -> {
                for (long seed = next.getAndIncrement();
                        seed < first + count && failed.get() == null;
                        seed = next.getAndIncrement()) {
                    if (run(seed).failure() != null) {
                        long mine = seed;
                        failed.accumulateAndGet(
                                mine, (one, other) -> one == null ? other : Long.valueOf(Math.min(one, mine)));
                    }
                }
            }));
        }
        for (Thread thread : all) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while histories ran.", interrupted);
            }
        }
        Long seed = failed.get();
        if (seed != null) {
            throw failure(seed);
        }
    }

    /** Shrinks a failed history and reports it. */
    public SimulationFailure failure(long seed) {
        History whole = trace(seed);
        if (whole.failure() == null) {
            return new SimulationFailure(
                    seed,
                    new SimulationFailure.Report(
                            new IllegalStateException(
                                    "it failed once and did not fail again, so something in it is not drawn from the seed: a static field, the clock, a random number or a hash of the JVM"),
                            whole.faults().size(),
                            whole.faults(),
                            whole.lines()));
        }
        History shrunk = shrink(seed, whole, whole.failure());
        Throwable cause = shrunk.failure() == null ? whole.failure() : shrunk.failure();
        return new SimulationFailure(
                seed, new SimulationFailure.Report(cause, whole.faults().size(), shrunk.faults(), shrunk.lines()));
    }

    /**
     * Leaves out half of the faults, then a quarter, down to single ones, as long as the history still fails in the
     * same way.
     */
    private History shrink(long seed, History whole, Throwable failure) {
        History best = whole;
        int replays = 0;
        int chunk = Math.max(1, whole.faults().size());
        while (chunk >= 1 && replays < MOST_REPLAYS) {
            boolean smaller = false;
            for (int from = 0; from < best.faults().size() && replays < MOST_REPLAYS; from += chunk) {
                Set<Choices.Happened> kept = new LinkedHashSet<>(best.faults());
                best.faults()
                        .subList(from, Math.min(from + chunk, best.faults().size()))
                        .forEach(kept::remove);
                History tried = run(Choices.of(seed, kept), Timeline.kept());
                replays++;
                if (tried.failure() != null && tried.failure().getClass() == failure.getClass()) {
                    best = tried;
                    smaller = true;
                    break;
                }
            }
            if (!smaller) {
                chunk /= 2;
            }
            chunk = Math.min(chunk, best.faults().size());
        }
        return best;
    }
}
