package dev.perdure.internal.schedule;

import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.schedule.ScheduleSpec.Bounds;
import dev.perdure.internal.schedule.ScheduleSpec.Exclusion;
import dev.perdure.internal.schedule.ScheduleSpec.Options;
import dev.perdure.internal.schedule.ScheduleSpec.Policies;
import dev.perdure.internal.schedule.ScheduleSpec.Rule;
import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleSpec.Target;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Base64;

/** Makes what is stored of what the user's code says. */
public record SpecWriter(CallTargets targets, Values values) {
    public ScheduleSpec spec(Schedule schedule) {
        CallTarget callee = targets.of(schedule.invocation());
        callee.require(schedule.options());
        return new ScheduleSpec(
                target(schedule.invocation()),
                schedule.times().rules().stream().map(SpecWriter::rule).toList(),
                schedule.times().exclusions().stream()
                        .map(day -> new Exclusion(day.zone().getId(), day.day()))
                        .toList(),
                new Bounds(
                        schedule.from().orElse(null),
                        schedule.until().orElse(null),
                        schedule.limit().orElse(0),
                        schedule.jitter()),
                policies(schedule),
                options(schedule.options()));
    }

    private Target target(Invocation<?> invocation) {
        CallTarget callee = targets.of(invocation);
        byte[] input = values.plain().inline().input(callee, invocation.input()).bytes();
        return new Target(
                callee.target().name(),
                targets.dag(invocation).isPresent(),
                Base64.getEncoder().encodeToString(input));
    }

    private static Rule rule(Times.Rule rule) {
        return switch (rule) {
            case Times.Cron cron ->
                new Rule(RuleKind.CRON, cron.expression(), cron.zone().getId(), null, null);
            case Times.Every every -> duration(RuleKind.EVERY, every.period());
            case Times.AfterEnd after -> duration(RuleKind.AFTER_END, after.delay());
            case Times.At at ->
                new Rule(
                        RuleKind.AT,
                        null,
                        null,
                        null,
                        at.instants().stream()
                                .map(time -> time.truncatedTo(ChronoUnit.MILLIS))
                                .toList());
        };
    }

    private static Rule duration(RuleKind kind, Duration duration) {
        return new Rule(kind, null, null, duration, null);
    }

    private Policies policies(Schedule schedule) {
        return new Policies(
                schedule.overlap(),
                schedule.catchUp().kind(),
                schedule.catchUp().within().orElse(null),
                schedule.pauseAfter().orElse(0),
                schedule.whenPaused().map(this::target).orElse(null));
    }

    private static Options options(StartOptions options) {
        return new Options(
                options.queue(),
                options.priority(),
                options.version().orElse(null),
                options.timeout().orElse(null),
                options.startWithin().orElse(null),
                options.key().orElse(null),
                options.weight(),
                Options.encoded(options.description()),
                options.placement().text(),
                options.description().memo().orElse(null));
    }
}
