package dev.perdure.cli.run;

import dev.perdure.RunState;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Page;
import dev.perdure.statistics.Durations;
import dev.perdure.statistics.Failures;
import dev.perdure.statistics.RunStatistics;
import dev.perdure.statistics.RunStatistics.StepStatistics;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** Prints how runs have ended, how long they took and what they failed with. */
public final class StatisticsPage {
    private static final Fields<RunStatistics> RUNS = withDurations(
            Fields.<RunStatistics>of()
                    .and("runs", statistics -> statistics.sample().runs())
                    .and("since", statistics -> statistics.sample().since())
                    .json("more", statistics -> statistics.sample().more())
                    .and("completed", statistics -> ended(statistics, RunState.COMPLETED))
                    .and("failed", statistics -> ended(statistics, RunState.FAILED))
                    .and("cancelled", statistics -> ended(statistics, RunState.CANCELLED))
                    .text("success", StatisticsPage::percent)
                    .json(
                            "success_rate",
                            statistics -> statistics.successRate().isPresent()
                                    ? Optional.of(statistics.successRate().getAsDouble())
                                    : Optional.empty()),
            RunStatistics::durations);

    private static final Fields<StepStatistics> STEP = withDurations(
            Fields.<StepStatistics>of()
                    .text("step", StepStatistics::name)
                    .json("name", StepStatistics::name)
                    .and("count", step -> step.durations().count())
                    .and("failed", StepStatistics::failed),
            step -> Optional.of(step.durations()));

    private static final Fields<Failures.Group> FAILURE = Fields.<Failures.Group>of()
            .and("runs", Failures.Group::runs)
            .json("first_at", Failures.Group::first)
            .text("last", Failures.Group::last)
            .json("last_at", Failures.Group::last)
            .and("latest", Failures.Group::latest)
            .and("type", Failures.Group::type)
            .and("message", Failures.Group::message)
            .json("example", Failures.Group::example);

    private StatisticsPage() {}

    private static int ended(RunStatistics statistics, RunState state) {
        return statistics.ended().getOrDefault(state, 0);
    }

    private static String percent(RunStatistics statistics) {
        return statistics.successRate().isPresent()
                ? String.format(Locale.ROOT, "%.1f %%", statistics.successRate().getAsDouble() * 100)
                : "";
    }

    private static <T> Fields<T> withDurations(Fields<T> fields, Function<T, Optional<Durations>> durations) {
        Fields<T> all = with(fields, "p50", thing -> durations.apply(thing).map(Durations::p50));
        all = with(all, "p95", thing -> durations.apply(thing).map(Durations::p95));
        all = with(all, "p99", thing -> durations.apply(thing).map(Durations::p99));
        return with(all, "max", thing -> durations.apply(thing).map(Durations::longest));
    }

    private static <T> Fields<T> with(Fields<T> fields, String name, Function<T, Optional<Duration>> duration) {
        return fields.text(name, duration).json(name + "_ms", duration);
    }

    /** Adds the statistics and the failures, or a sentence if there are no runs. */
    public static Page add(Page page, RunStatistics statistics, Failures failures) {
        if (statistics.sample().runs() == 0) {
            page.message("No run of these has ended in the last 24 hours.");
        }
        page.one("statistics", RUNS, statistics);
        if (statistics.sample().more()) {
            page.note(
                    "There are more runs; these are the newest %s that have ended.".formatted(RunStatistics.MOST_RUNS));
        }
        page.many("steps", STEP, statistics.steps(), "");
        return page.many("failures", FAILURE, failures.groups(), "");
    }
}
