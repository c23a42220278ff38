package dev.perdure.cli;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.Condition;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which runs a command is about. */
final class FilterOptions {
    @Option(names = "--state", split = ",", description = "Only runs in one of these states: ${COMPLETION-CANDIDATES}.")
    private List<RunState> states = List.of();

    @Option(names = "--definition", description = "Only runs of this definition.")
    private @Nullable String definition;

    @Option(names = "--queue", description = "Only runs in this queue.")
    private @Nullable String queue;

    @Option(names = "--key", description = "Only runs under this key of their queue.")
    private @Nullable String key;

    @Option(names = "--pinned", paramLabel = "VERSION", description = "Only runs that are pinned to this version.")
    private @Nullable String version;

    @Option(names = "--parent", paramLabel = "ID", description = "Only the children and tasks of this run.")
    private @Nullable String parent;

    @Option(names = "--root", paramLabel = "ID", description = "Only this run and all runs below it.")
    private @Nullable String root;

    @Option(names = "--schedule", description = "Only runs that this schedule has started.")
    private @Nullable String schedule;

    @Option(names = "--id", paramLabel = "PREFIX", description = "Only runs whose ids begin with this text.")
    private @Nullable String idPrefix;

    @Option(
            names = "--reason",
            paramLabel = "PREFIX",
            description =
                    "Only runs that failed, were cancelled or skipped, or are paused, for a reason that begins so.")
    private @Nullable String reason;

    @Option(
            names = "--where",
            paramLabel = "CONDITION",
            description =
                    "Only runs with this attribute: customer=c-7, total>=100, due<2026-01-31T00:00:00Z, tags~urgent. A number, true, false or a time is compared as such; put a text that looks like one into double quotes.")
    private List<String> conditions = List.of();

    @Option(names = "--created-from", paramLabel = "TIME", description = "Only runs created at this time or later.")
    private @Nullable Instant createdFrom;

    @Option(names = "--created-before", paramLabel = "TIME", description = "Only runs created before this time.")
    private @Nullable Instant createdBefore;

    @Option(names = "--ended-from", paramLabel = "TIME", description = "Only runs that ended at this time or later.")
    private @Nullable Instant endedFrom;

    @Option(names = "--ended-before", paramLabel = "TIME", description = "Only runs that ended before this time.")
    private @Nullable Instant endedBefore;

    /** The filter that these options describe. */
    RunFilter filter() {
        RunFilter filter = RunFilter.all();
        filter = states.isEmpty() ? filter : filter.state(states.toArray(RunState[]::new));
        filter = and(filter, definition, RunFilter::definition);
        filter = and(filter, queue, RunFilter::queue);
        filter = and(filter, key, RunFilter::key);
        filter = and(filter, version, RunFilter::version);
        filter = and(filter, parent, (before, id) -> before.parent(RunId.of(id)));
        filter = and(filter, root, (before, id) -> before.root(RunId.of(id)));
        filter = and(filter, schedule, RunFilter::schedule);
        filter = and(filter, idPrefix, RunFilter::idPrefix);
        filter = and(filter, reason, RunFilter::reason);
        for (String condition : conditions) {
            filter = filter.where(Condition.parsed(condition));
        }
        if (createdFrom != null || createdBefore != null) {
            filter = filter.created(from(createdFrom), before(createdBefore));
        }
        return endedFrom == null && endedBefore == null ? filter : filter.ended(from(endedFrom), before(endedBefore));
    }

    /** Whether no option is given, so that the filter is the one that selects all runs. */
    boolean isEmpty() {
        return filter() == RunFilter.all();
    }

    private static <T> RunFilter and(
            RunFilter filter, @Nullable T value, BiFunction<RunFilter, T, RunFilter> condition) {
        return value == null ? filter : condition.apply(filter, value);
    }

    private static Instant from(@Nullable Instant time) {
        return time == null ? Instant.MIN : time;
    }

    private static Instant before(@Nullable Instant time) {
        return time == null ? Instant.MAX : time;
    }
}
