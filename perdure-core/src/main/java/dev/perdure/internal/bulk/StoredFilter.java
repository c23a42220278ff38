package dev.perdure.internal.bulk;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.internal.text.Reserved;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The conditions of a filter as the input of a bulk action has them. Order, limit and page of the filter are left out.
 *
 * @param conditions the conditions by their names, as texts
 * @param attributes the conditions for attributes
 */
public record StoredFilter(Map<String, String> conditions, List<Compared> attributes) {
    private static final String STATES = "state";
    private static final String SCHEDULE = "schedule";
    private static final String WITHOUT_ENGINE_RUNS = "without_engine_runs";
    private static final String CREATED_FROM = "created_from";
    private static final String CREATED_BEFORE = "created_before";
    private static final String ENDED_FROM = "ended_from";
    private static final String ENDED_BEFORE = "ended_before";

    /** What has to hold for an attribute, with its value as {@link AttributeValue#encoded}. */
    public record Compared(String name, Condition.Comparison comparison, String value) {}

    /** Of a filter. */
    static StoredFilter of(RunFilter filter) {
        Map<String, String> conditions = new TreeMap<>();
        if (!filter.states().isEmpty()) {
            conditions.put(STATES, filter.states().stream().map(RunState::name).collect(Collectors.joining(",")));
        }
        for (Texted texted : Texted.values()) {
            texted.read(filter).ifPresent(value -> conditions.put(texted.condition(), value));
        }
        filter.schedule().ifPresent(run -> conditions.put(SCHEDULE, run.value().substring(Reserved.SCHEDULE.length())));
        if (filter.isWithoutEngineRuns()) {
            conditions.put(WITHOUT_ENGINE_RUNS, "true");
        }
        filter.created().ifPresent(period -> {
            conditions.put(CREATED_FROM, period.start().toString());
            conditions.put(CREATED_BEFORE, period.end().toString());
        });
        filter.ended().ifPresent(period -> {
            conditions.put(ENDED_FROM, period.start().toString());
            conditions.put(ENDED_BEFORE, period.end().toString());
        });
        return new StoredFilter(
                conditions,
                filter.conditions().stream()
                        .map(each -> new Compared(
                                each.name(), each.comparison(), each.value().encoded()))
                        .toList());
    }

    /** The same conditions as a filter. */
    RunFilter filter() {
        RunFilter filter = RunFilter.all();
        String states = conditions.get(STATES);
        if (states != null) {
            filter = filter.state(
                    List.of(states.split(",")).stream().map(RunState::valueOf).toArray(RunState[]::new));
        }
        for (Texted texted : Texted.values()) {
            String value = conditions.get(texted.condition());
            filter = value == null ? filter : texted.write(filter, value);
        }
        String schedule = conditions.get(SCHEDULE);
        filter = schedule == null ? filter : filter.schedule(schedule);
        filter = conditions.containsKey(WITHOUT_ENGINE_RUNS) ? filter.withoutEngineRuns() : filter;
        if (conditions.containsKey(CREATED_FROM)) {
            filter = filter.created(time(CREATED_FROM), time(CREATED_BEFORE));
        }
        if (conditions.containsKey(ENDED_FROM)) {
            filter = filter.ended(time(ENDED_FROM), time(ENDED_BEFORE));
        }
        for (Compared each : attributes) {
            filter = filter.where(new Condition(each.name(), each.comparison(), AttributeValue.decoded(each.value())));
        }
        return filter;
    }

    private Instant time(String condition) {
        return Instant.parse(conditions.getOrDefault(condition, Instant.MAX.toString()));
    }

    /** For people, such as {@code definition=order state=FAILED}. */
    @Override
    public String toString() {
        String texts = conditions.entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .collect(Collectors.joining(" "));
        String values = attributes.stream()
                .map(each -> "%s %s %s".formatted(each.name(), each.comparison(), each.value()))
                .collect(Collectors.joining(" "));
        String all = (texts + " " + values).strip();
        return all.isEmpty() ? "all runs" : all;
    }

    /** The conditions that are one text. */
    @SuppressWarnings("ImmutableEnumChecker") // what reads and writes a condition is a method of the filter
    private enum Texted {
        DEFINITION("definition", RunFilter::definition, RunFilter::definition),
        QUEUE("queue", RunFilter::queue, RunFilter::queue),
        KEY("key", RunFilter::key, RunFilter::key),
        VERSION("version", RunFilter::version, RunFilter::version),
        PARENT("parent", filter -> filter.parent().map(RunId::value), (filter, id) -> filter.parent(RunId.of(id))),
        ROOT("root", filter -> filter.root().map(RunId::value), (filter, id) -> filter.root(RunId.of(id))),
        ID_PREFIX("id_prefix", RunFilter::idPrefix, RunFilter::idPrefix),
        REASON("reason", RunFilter::reason, RunFilter::reason);

        private final String condition;
        private final Function<RunFilter, Optional<String>> reading;
        private final BiFunction<RunFilter, String, RunFilter> writing;

        Texted(
                String condition,
                Function<RunFilter, Optional<String>> reading,
                BiFunction<RunFilter, String, RunFilter> writing) {
            this.condition = condition;
            this.reading = reading;
            this.writing = writing;
        }

        String condition() {
            return condition;
        }

        Optional<String> read(RunFilter filter) {
            return reading.apply(filter);
        }

        RunFilter write(RunFilter filter, String value) {
            return writing.apply(filter, value);
        }
    }
}
