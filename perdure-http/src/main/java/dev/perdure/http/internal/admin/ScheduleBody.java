package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.Invocation;
import dev.perdure.TypeRef;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.show.Inputs;
import dev.perdure.http.internal.show.RunOptions;
import dev.perdure.http.internal.show.Services;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** A schedule in the body of a request. */
final class ScheduleBody {
    private static final Pattern DAY = Pattern.compile("(?<day>[^\\[]*)\\[(?<zone>[^\\]]*)\\]");
    private static final String CATCH_UP = "catch_up";
    private static final String WITHIN = "catch_up_within";
    private static final String TIMES = "times";

    private static final String WHEN_PAUSED = "when_paused";
    private static final String PAUSE_AFTER = "pause_after";
    private static final String DEFINITION = "definition";
    private static final String INPUT = "input";

    private static final List<Body.Property> OWN = List.of(
            required(DEFINITION, ValueType.TEXT, "What it runs, which is registered here."),
            optional(INPUT, ValueType.ANY, "The input of its runs."),
            optional("cron", ValueType.TEXT, "Fires at the times of a cron expression, such as 0 6 * * *."),
            optional("zone", ValueType.TEXT, "The time zone of the cron expression and of the days. UTC by default."),
            optional("every", ValueType.TEXT, "Fires at a fixed rate, such as PT10M."),
            optional("after_end", ValueType.TEXT, "Fires so long after the end of the last run, such as PT10M."),
            optional("at", ValueType.TEXTS, "Fires at these times."),
            optional(
                    TIMES,
                    ValueType.MAPS,
                    "Also fires at these times. Each has one of 'cron' (with its own 'zone'), 'every', 'after_end' and 'at'."),
            optional(
                    "except",
                    ValueType.TEXTS,
                    "Does not fire on these days, such as 2026-12-25, or 2026-12-25[Europe/Berlin] in another time zone."),
            optional("overlap", ValueType.TEXT, "What happens if the run before has not ended. SKIP by default."),
            optional(
                    CATCH_UP,
                    ValueType.TEXT,
                    "Which fire times are caught up that passed without a worker. LAST by default."),
            optional(WITHIN, ValueType.TEXT, "How late a fire time may be to be caught up by ALL, such as PT1H."),
            optional("from", ValueType.TIME, "Fires at this time at the earliest."),
            optional("until", ValueType.TIME, "Fires at this time at the latest."),
            optional("limit", ValueType.INTEGER, "Fires so many times."),
            optional("jitter", ValueType.TEXT, "Fires later by up to this much, such as PT1M."),
            optional(PAUSE_AFTER, ValueType.INTEGER, "Pauses when so many runs have failed one after another."),
            optional(
                    WHEN_PAUSED,
                    ValueType.ANY,
                    "What to run when it pauses so: an object with 'definition' and 'input'."));

    static final Body.Property[] PROPERTIES =
            Stream.concat(OWN.stream(), RunOptions.PROPERTIES.stream()).toArray(Body.Property[]::new);

    private ScheduleBody() {}

    /** The schedule. */
    static Schedule schedule(String name, Call call, Services services) {
        Schedule schedule = Schedule.of(
                        name, times(call), invocation(services, call.requiredText(DEFINITION), call.property(INPUT)))
                .options(RunOptions.ofBody(call));
        schedule = RunOptions.and(
                schedule,
                call.text("overlap").map(text -> Call.constant(Overlap.class, "overlap", text)),
                Schedule::overlap);
        schedule = RunOptions.and(schedule, catchUp(call), Schedule::catchUp);
        schedule = RunOptions.and(schedule, call.bodyTime("from"), Schedule::from);
        schedule = RunOptions.and(schedule, call.bodyTime("until"), Schedule::until);
        schedule = RunOptions.and(schedule, call.bodyNumber("limit"), Schedule::limit);
        schedule = RunOptions.and(schedule, call.bodyDuration("jitter"), Schedule::jitter);
        return pausing(schedule, call, services);
    }

    private static Invocation<?> invocation(Services services, String definition, Optional<JsonNode> input) {
        return Invocation.of(definition, Inputs.of(services, definition, input), TypeRef.of(Void.class));
    }

    private static Schedule pausing(Schedule schedule, Call call, Services services) {
        Optional<Integer> failures = call.bodyNumber(PAUSE_AFTER);
        Optional<JsonNode> reaction = call.property(WHEN_PAUSED);
        if (reaction.isEmpty()) {
            return RunOptions.and(schedule, failures, Schedule::pauseAfter);
        }
        JsonNode given = reaction.get();
        if (!given.path(DEFINITION).isString()
                || given.propertyStream()
                        .anyMatch(each -> !Set.of(DEFINITION, INPUT).contains(each.getKey()))) {
            throw Problem.invalid(
                    "The property 'when_paused' is no object with 'definition', a text, and perhaps 'input'. Give it one.");
        }
        if (failures.isEmpty()) {
            throw Problem.invalid(
                    "The body has 'when_paused' and no 'pause_after'. Say after how many failures the schedule pauses.");
        }
        return schedule.pauseAfter(
                failures.get(),
                invocation(services, given.get(DEFINITION).asString(), Optional.ofNullable(given.get(INPUT))));
    }

    private static Times times(Call call) {
        ZoneId zone = zone(call.text("zone").orElse("UTC"));
        List<Times> rules = new ArrayList<>();
        call.text("cron").map(expression -> Times.cron(expression, zone)).ifPresent(rules::add);
        call.bodyDuration("every").map(Times::every).ifPresent(rules::add);
        call.bodyDuration("after_end").map(Times::afterEnd).ifPresent(rules::add);
        if (call.property("at").isPresent()) {
            rules.add(Times.at(
                    call.texts("at").stream().map(ScheduleBody::instant).toArray(Instant[]::new)));
        }
        call.property(TIMES).stream()
                .flatMap(list -> list.values().stream())
                .map(ScheduleBody::rule)
                .forEach(rules::add);
        Times all = rules.stream()
                .reduce(Times::and)
                .orElseThrow(
                        () -> Problem.invalid(
                                "The body does not say when the schedule fires. Give 'cron', 'every', 'after_end', 'at' or 'times'."));
        for (String day : call.texts("except")) {
            Matcher matcher = DAY.matcher(day);
            LocalDate date = Call.parsed(
                    "except",
                    matcher.matches() ? matcher.group("day") : day,
                    LocalDate::parse,
                    "days such as 2026-12-25");
            all = all.except(matcher.matches() ? zone(matcher.group("zone")) : zone, date);
        }
        return all;
    }

    /** One of the times, all of whose values are texts. */
    private static Times rule(JsonNode given) {
        Map<String, String> values = new TreeMap<>();
        given.propertyStream()
                .forEach(each -> values.put(each.getKey(), each.getValue().asString()));
        Optional<String> zone = Optional.ofNullable(values.remove("zone"));
        if (values.size() == 1 && (zone.isEmpty() || values.containsKey("cron"))) {
            Map.Entry<String, String> only = values.entrySet().iterator().next();
            String kind = only.getKey();
            String value = only.getValue();
            switch (kind) {
                case "cron" -> {
                    return Times.cron(value, zone(zone.orElse("UTC")));
                }
                case "every" -> {
                    return Times.every(duration(kind, value));
                }
                case "after_end" -> {
                    return Times.afterEnd(duration(kind, value));
                }
                case "at" -> {
                    return Times.at(instant(value));
                }
                default -> {
                    // refused below
                }
            }
        }
        throw Problem.invalid(
                "One of the 'times' has the properties %s. Give it 'cron', also with 'zone', or 'every', or 'after_end', or 'at'."
                        .formatted(given.propertyNames()));
    }

    private static Instant instant(String text) {
        return Call.parsed("at", text, Instant::parse, "times such as 2026-01-31T12:00:00Z");
    }

    private static Duration duration(String name, String text) {
        return Call.parsed(name, text, Duration::parse, "a duration such as PT10M");
    }

    private static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException unknown) {
            throw Problem.invalid("There is no time zone '%s'. Give one such as Europe/Berlin.".formatted(name));
        }
    }

    private static Optional<CatchUp> catchUp(Call call) {
        Optional<Duration> within = call.bodyDuration(WITHIN);
        Optional<CatchUp.Kind> kind =
                call.text(CATCH_UP).map(text -> Call.constant(CatchUp.Kind.class, "catch-up", text));
        boolean all = kind.filter(CatchUp.Kind.ALL::equals).isPresent();
        if (all != within.isPresent()) {
            throw Problem.invalid(
                    "The properties '%s' ALL and '%s' go together. Give both, or neither.".formatted(CATCH_UP, WITHIN));
        }
        return kind.map(chosen -> switch (chosen) {
            case NONE -> CatchUp.none();
            case LAST -> CatchUp.last();
            case ALL -> CatchUp.all(within.orElseThrow());
        });
    }
}
