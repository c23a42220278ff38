package dev.perdure.statistics;

import dev.perdure.RunState;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How runs have ended, and how long they and their steps took: over a sample of the newest runs that have ended.
 *
 * @param sample which runs were looked at
 * @param ended how many of them ended in which state, without states of which there are none
 * @param durations how long they took from their start to their end, with the time in which they waited; empty if there
 *     are none
 * @param steps their steps by name, those with the most time in all first, {@value #MOST_STEPS} at most: of the newest
 *     {@value #RUNS_WITH_STEPS} runs, and of each of them the first {@value #STEPS_OF_RUN} entries of the journal
 */
public record RunStatistics(
        Sample sample, Map<RunState, Integer> ended, Optional<Durations> durations, List<StepStatistics> steps) {
    /** How long ago the runs were created at most. */
    public static final Duration WITHIN = Duration.ofHours(24);

    /** How many runs are looked at. */
    public static final int MOST_RUNS = 1_000;

    /** Of how many runs the steps are looked at. */
    public static final int RUNS_WITH_STEPS = 200;

    /** How many entries of the journal of a run are looked at. */
    public static final int STEPS_OF_RUN = 100;

    /** How many names of steps there are. */
    public static final int MOST_STEPS = 100;

    /** Copies the collections. */
    public RunStatistics {
        EnumMap<RunState, Integer> copy = new EnumMap<>(RunState.class);
        copy.putAll(ended);
        ended = Collections.unmodifiableMap(copy);
        steps = List.copyOf(steps);
    }

    /**
     * Which runs were looked at: the newest, by their creation, that have ended, of the last 24 hours.
     *
     * @param runs how many, {@value RunStatistics#MOST_RUNS} at most
     * @param since when the oldest of them was created; empty if there are none
     * @param more whether there are more
     */
    public record Sample(int runs, Optional<Instant> since, boolean more) {}

    /**
     * The steps of one name.
     *
     * @param name the name
     * @param failed how many of them failed finally
     * @param durations how long they took: each from what its run recorded before it, such as a failed attempt, to its
     *     answer
     */
    public record StepStatistics(String name, int failed, Durations durations) {}

    /** How many of the runs completed, of those that completed or failed: from 0 to 1; empty if there are none. */
    public OptionalDouble successRate() {
        return successRate(ended);
    }

    /** The same for runs of which so many ended in these states. */
    public static OptionalDouble successRate(Map<RunState, Integer> ended) {
        int completed = ended.getOrDefault(RunState.COMPLETED, 0);
        int both = completed + ended.getOrDefault(RunState.FAILED, 0);
        return both == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) completed / both);
    }
}
