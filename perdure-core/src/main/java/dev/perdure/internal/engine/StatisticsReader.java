package dev.perdure.internal.engine;

import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.Runs;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.spi.statistics.Statistics.Seen;
import dev.perdure.spi.statistics.Statistics.StepTime;
import dev.perdure.statistics.Durations;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import dev.perdure.statistics.RunStatistics.Sample;
import dev.perdure.statistics.RunStatistics.StepStatistics;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Makes the statistics of the runs that a filter selects. */
final class StatisticsReader {
    private final Statistics store;

    StatisticsReader(Statistics store) {
        this.store = store;
    }

    /** How the runs have ended. */
    RunStatistics read(RunFilter filter) {
        List<Seen> found = store.newest(ended(filter), RunStatistics.WITHIN, RunStatistics.MOST_RUNS + 1);
        List<Seen> runs = found.subList(0, Math.min(found.size(), RunStatistics.MOST_RUNS));
        Map<RunState, Integer> ended = new EnumMap<>(RunState.class);
        runs.forEach(run -> ended.merge(run.state(), 1, Integer::sum));
        Sample sample = new Sample(
                runs.size(),
                runs.isEmpty() ? Optional.empty() : Optional.of(runs.getLast().createdAt()),
                found.size() > runs.size());
        List<Duration> durations = runs.stream().map(StatisticsReader::took).toList();
        return new RunStatistics(sample, ended, Durations.of(durations), steps(runs));
    }

    /** From the start of a run to its end. */
    private static Duration took(Seen run) {
        return Duration.between(run.createdAt(), run.changedAt());
    }

    private static RunFilter ended(RunFilter filter) {
        RunState[] states = Arrays.stream(RunState.values())
                .filter(RunState::isTerminal)
                .filter(state -> filter.states().isEmpty() || filter.states().contains(state))
                .toArray(RunState[]::new);
        if (states.length == 0) {
            throw new InvalidRequestException(
                    "The filter names only states of runs that have not ended: %s. Name COMPLETED, FAILED, CANCELLED or SKIPPED, or none."
                            .formatted(filter.states()));
        }
        return filter.state(states);
    }

    private List<StepStatistics> steps(List<Seen> runs) {
        List<StepTime> times = store.steps(
                runs.stream()
                        .limit(RunStatistics.RUNS_WITH_STEPS)
                        .map(Seen::run)
                        .toList(),
                RunStatistics.STEPS_OF_RUN);
        Comparator<List<StepTime>> byTotal =
                Comparator.comparing(steps -> steps.stream().map(StepTime::took).reduce(Duration.ZERO, Duration::plus));
        return times.stream().collect(Collectors.groupingBy(StepTime::name)).values().stream()
                .sorted(byTotal.reversed()
                        .thenComparing(steps -> steps.getFirst().name()))
                .limit(RunStatistics.MOST_STEPS)
                .map(StatisticsReader::statistics)
                .toList();
    }

    private static StepStatistics statistics(List<StepTime> steps) {
        int failed = Math.toIntExact(steps.stream().filter(StepTime::failed).count());
        Durations durations =
                Durations.of(steps.stream().map(StepTime::took).toList()).orElseThrow();
        return new StepStatistics(steps.getFirst().name(), failed, durations);
    }

    /** The runs that failed, by their reasons. */
    static Failures failures(Runs runs, RunFilter filter) {
        RunFilter failed = filter.states().isEmpty() ? filter.state(RunState.FAILED) : filter;
        List<RunInfo> found = runs.list(failed.limit(Failures.MOST_RUNS + 1));
        List<RunInfo> shown = found.subList(0, Math.min(found.size(), Failures.MOST_RUNS));
        return Failures.of(shown, found.size() > shown.size());
    }
}
