package dev.perdure.http.internal.runs;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.Condition;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.show.Paging;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** The filter of runs in the query of a request. */
final class Filters {
    private static final Instant BEGINNING = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("9999-12-31T00:00:00Z");

    /** The parameters that select runs. */
    static final List<Parameter> SELECTING = List.of(
            Parameter.queries("state", "Only runs in this state; several are separated by commas."),
            Parameter.query("definition", "Only runs of this definition."),
            Parameter.query("queue", "Only runs in this queue."),
            Parameter.query("key", "Only runs under this key of their queue."),
            Parameter.query("version", "Only runs that are pinned to this version."),
            Parameter.query("parent", "Only the children and tasks of this run."),
            Parameter.query("root", "Only this run and all runs below it."),
            Parameter.query("schedule", "Only runs that this schedule has started."),
            Parameter.query("id_prefix", "Only runs whose ids begin with this text."),
            Parameter.query("reason", "Only runs that did not complete, or are paused, for a reason that begins so."),
            Parameter.queries(
                    "where",
                    "Only runs with this attribute: customer=c-7, total>=100, due<2026-01-31T00:00:00Z, tags~urgent."),
            Parameter.query("created_from", "Only runs created at this time or later."),
            Parameter.query("created_before", "Only runs created before this time."),
            Parameter.query("ended_from", "Only runs that ended at this time or later."),
            Parameter.query("ended_before", "Only runs that ended before this time."));

    /** The parameter without which nothing is done to all runs. */
    static final Parameter ALL =
            Parameter.query("all", "true, if the query selects all runs because it has no condition.");

    /** The parameters of a page. */
    static final List<Parameter> PAGING = List.of(
            Parameter.query("oldest_first", "Whether the oldest runs come first."),
            Paging.LIMIT,
            Parameter.query("after", "The 'next' of the page before."));

    private Filters() {}

    /** The same for an action, for which no condition at all may be a mistake. */
    static RunFilter selectedOnPurpose(Call call) {
        if (SELECTING.stream().allMatch(condition -> call.all(condition.name()).isEmpty()) && !call.flag(ALL.name())) {
            throw Problem.invalid(
                    "The query has no condition, so this would be for all runs. Give one, such as definition=order, or all=true.");
        }
        return selected(call);
    }

    /** The runs that the query selects. */
    static RunFilter selected(Call call) {
        RunFilter filter = RunFilter.all();
        RunState[] states = call.each("state").stream()
                .map(state -> Call.constant(RunState.class, "state", state))
                .toArray(RunState[]::new);
        if (states.length > 0) {
            filter = filter.state(states);
        }
        filter = and(filter, call.query("definition"), RunFilter::definition);
        filter = and(filter, call.query("queue"), RunFilter::queue);
        filter = and(filter, call.query("key"), RunFilter::key);
        filter = and(filter, call.query("version"), RunFilter::version);
        filter = and(filter, call.query("parent").map(RunId::of), RunFilter::parent);
        filter = and(filter, call.query("root").map(RunId::of), RunFilter::root);
        filter = and(filter, call.query("schedule"), RunFilter::schedule);
        filter = and(filter, call.query("id_prefix"), RunFilter::idPrefix);
        filter = and(filter, call.query("reason"), RunFilter::reason);
        for (String condition : call.all("where")) {
            filter = filter.where(Condition.parsed(condition));
        }
        return timed(call, filter);
    }

    private static RunFilter timed(Call call, RunFilter all) {
        RunFilter filter = all;
        if (call.query("created_from").isPresent()
                || call.query("created_before").isPresent()) {
            filter = filter.created(
                    call.time("created_from").orElse(BEGINNING),
                    call.time("created_before").orElse(END));
        }
        if (call.query("ended_from").isPresent() || call.query("ended_before").isPresent()) {
            filter = filter.ended(
                    call.time("ended_from").orElse(BEGINNING),
                    call.time("ended_before").orElse(END));
        }
        return filter;
    }

    private static <T> RunFilter and(
            RunFilter filter, Optional<T> value, BiFunction<RunFilter, T, RunFilter> condition) {
        return value.map(given -> condition.apply(filter, given)).orElse(filter);
    }

    /** A page of the runs that the query selects. */
    static RunFilter page(Call call) {
        RunFilter all = selected(call).limit(Paging.limit(call));
        RunFilter ordered = call.flag("oldest_first") ? all.oldestFirst() : all;
        return and(ordered, call.query("after").map(Filters::decoded), RunFilter::after);
    }

    /** A place between two pages: when the last run was created, and its id. */
    static String encoded(RunInfo last) {
        String place = last.createdAt() + "\n" + last.id();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(place.getBytes(StandardCharsets.UTF_8));
    }

    private static RunInfo decoded(String place) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(place), StandardCharsets.UTF_8);
            int line = text.indexOf('\n');
            Instant createdAt = Paging.time(text.substring(0, Math.max(line, 0)));
            // Only id and time of the last run tell where the next page begins.
            return RunInfo.of(RunId.of(text.substring(line + 1)), RunState.COMPLETED, Optional.empty(), createdAt);
        } catch (IllegalArgumentException wrong) {
            throw Paging.unknownPlace();
        }
    }
}
