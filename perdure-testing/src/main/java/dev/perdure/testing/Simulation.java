package dev.perdure.testing;

import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.testing.internal.simulation.Histories;
import dev.perdure.testing.internal.simulation.World;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * One history of a simulated test: the engine with several workers, in virtual time, with faults that follow from a
 * seed. See {@link Simulate}.
 *
 * <p>Step bodies and the test itself run one at a time. Between two calls of the engine, nothing else runs, unless the
 * code calls {@link #pause()}. Call it where real code would talk to another system.
 */
public final class Simulation {
    private final World world;
    private final RandomGenerator random;

    private Simulation(World world) {
        this.world = world;
        this.random = new SplittableRandom(world.choices().seed());
    }

    /** A test of one history. */
    @FunctionalInterface
    public interface Test {
        /** Starts runs, waits for them, and checks the results. */
        void run(Simulation simulation) throws Exception;
    }

    /**
     * Runs a test with the seeds from 1 up, without JUnit.
     *
     * @throws AssertionError if one fails, with its seed and its timeline
     */
    public static void check(int seeds, Test test) {
        histories(test).check(1, seeds, 1);
    }

    /** Runs a test with one seed, to repeat a failure. */
    static void checkOne(long seed, Test test) {
        histories(test).check(seed, 1, 1);
    }

    private static Histories histories(Test test) {
        return new Histories(World.Shared.plain(), world -> test.run(new Simulation(world)));
    }

    /** Registers workflows, virtual objects and DAGs. Call it before you use the client. */
    public Simulation register(Object... registrations) {
        world.register(registrations);
        return this;
    }

    /** The retry policy of steps that set none of their own. */
    public Simulation retry(RetryPolicy policy) {
        world.retry(policy);
        return this;
    }

    /** The engine of the test. It never dies, and it also gets answers from workers that do. */
    public Perdure client() {
        return world.client();
    }

    /** Runs these at the same time, like callers in several threads, and returns when all have ended. */
    public void run(Runnable... callers) {
        world.together(List.of(callers));
    }

    /**
     * Lets other code run. The worker may die in the meantime. Call it where real code would talk to another system.
     */
    public void pause() {
        pause(Duration.ZERO);
    }

    /** Like {@link #pause()}, for this long in virtual time. Use it instead of {@code Thread.sleep}. */
    public void pause(Duration time) {
        try {
            world.pause(time);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The body was interrupted.", interrupted);
        }
    }

    /** Adds a line to the timeline of this history. */
    public void note(String text) {
        world.note(text);
    }

    /** Random numbers that follow from the seed. */
    public RandomGenerator random() {
        return random;
    }

    /** The virtual time. */
    public Instant now() {
        return world.now();
    }

    /** Stops all faults from now on. A history has only a few of them in any case. */
    public void calm() {
        world.calm();
    }

    /** All runs. */
    public List<RunInfo> runs() {
        return world.store().runs().list(RunFilter.all());
    }
}
