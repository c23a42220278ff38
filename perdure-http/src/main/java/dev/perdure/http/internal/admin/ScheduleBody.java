package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.show.Inputs;
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
import java.util.Optional;
import java.util.function.BiFunction;

/** A schedule in the body of a request. */
final class ScheduleBody {
    private static final String CATCH_UP = "catch_up";
    private static final String WITHIN = "catch_up_within";

    static final Body.Property[] PROPERTIES = {
        required("definition", ValueType.TEXT, "What it runs, which is registered here."),
        optional("input", ValueType.ANY, "The input of its runs."),
        optional("cron", ValueType.TEXT, "Fires at the times of a cron expression, such as 0 6 * * *."),
        optional("zone", ValueType.TEXT, "The time zone of the cron expression and of the days. UTC by default."),
        optional("every", ValueType.TEXT, "Fires at a fixed rate, such as PT10M."),
        optional("after_end", ValueType.TEXT, "Fires so long after the end of the last run, such as PT10M."),
        optional("at", ValueType.TEXTS, "Fires at these times."),
        optional("except", ValueType.TEXTS, "Does not fire on these days, such as 2026-12-25."),
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
        optional("pause_after", ValueType.INTEGER, "Pauses when so many runs have failed one after another."),
        optional("queue", ValueType.TEXT, "The queue of its runs."),
        optional("key", ValueType.TEXT, "Their key in the queue."),
        optional("priority", ValueType.INTEGER, "Their priority."),
        optional("version", ValueType.TEXT, "The version that they are pinned to."),
        optional("timeout", ValueType.TEXT, "Their timeout, such as PT1H."),
        optional("memo", ValueType.TEXT, "What a person reads about them.")
    };

    private ScheduleBody() {}

    /** The schedule. */
    static Schedule schedule(String name, Call call, Services services) {
        String definition = call.requiredText("definition");
        Object input = Inputs.of(services, definition, call.property("input"));
        Schedule schedule = Schedule.of(name, times(call), Invocation.of(definition, input, TypeRef.of(Void.class)))
                .options(options(call));
        schedule = and(
                schedule,
                call.text("overlap").map(text -> Call.constant(Overlap.class, "overlap", text)),
                Schedule::overlap);
        schedule = and(schedule, catchUp(call), Schedule::catchUp);
        schedule = and(schedule, call.bodyTime("from"), Schedule::from);
        schedule = and(schedule, call.bodyTime("until"), Schedule::until);
        schedule = and(schedule, call.bodyNumber("limit"), Schedule::limit);
        schedule = and(schedule, call.bodyDuration("jitter"), Schedule::jitter);
        return and(schedule, call.bodyNumber("pause_after"), Schedule::pauseAfter);
    }

    private static Times times(Call call) {
        ZoneId zone = zone(call.text("zone"));
        List<Times> rules = new ArrayList<>();
        call.text("cron").map(expression -> Times.cron(expression, zone)).ifPresent(rules::add);
        call.bodyDuration("every").map(Times::every).ifPresent(rules::add);
        call.bodyDuration("after_end").map(Times::afterEnd).ifPresent(rules::add);
        if (call.property("at").isPresent()) {
            rules.add(Times.at(call.texts("at").stream()
                    .map(text -> Call.parsed("at", text, Instant::parse, "times such as 2026-01-31T12:00:00Z"))
                    .toArray(Instant[]::new)));
        }
        Times all = rules.stream()
                .reduce(Times::and)
                .orElseThrow(() -> Problem.invalid(
                        "The body does not say when the schedule fires. Give 'cron', 'every', 'after_end' or 'at'."));
        LocalDate[] days = call.texts("except").stream()
                .map(text -> Call.parsed("except", text, LocalDate::parse, "days such as 2026-12-25"))
                .toArray(LocalDate[]::new);
        return days.length == 0 ? all : all.except(zone, days);
    }

    private static ZoneId zone(Optional<String> name) {
        try {
            return ZoneId.of(name.orElse("UTC"));
        } catch (DateTimeException unknown) {
            throw Problem.invalid(
                    "There is no time zone '%s'. Give one such as Europe/Berlin.".formatted(name.orElse("")));
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

    private static StartOptions options(Call call) {
        StartOptions options = StartOptions.defaults();
        options = and(options, call.text("queue"), StartOptions::queue);
        options = and(options, call.text("key"), StartOptions::key);
        options = and(options, call.bodyNumber("priority"), StartOptions::priority);
        options = and(options, call.text("version"), StartOptions::version);
        options = and(options, call.bodyDuration("timeout"), StartOptions::timeout);
        return and(options, call.text("memo"), StartOptions::memo);
    }

    private static <S, T> S and(S some, Optional<T> value, BiFunction<S, T, S> option) {
        return value.map(given -> option.apply(some, given)).orElse(some);
    }
}
