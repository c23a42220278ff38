package dev.perdure.internal.engine;

import dev.perdure.Invocation;
import dev.perdure.TypeRef;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.ScheduledMethods;
import dev.perdure.internal.schedule.FireTimes;
import dev.perdure.internal.schedule.ScheduleFunction;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.internal.settings.Settings;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Scheduled;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The schedules that the code declares: as values, and by annotations. */
final class DeclaredSchedules {
    private DeclaredSchedules() {}

    /** All of them. */
    static List<Schedule> of(Settings settings) {
        List<Schedule> all = new ArrayList<>(settings.schedules());
        ScheduledMethods.of(settings.registrations()).forEach(method -> all.add(schedule(method)));
        Set<String> names = new HashSet<>();
        for (Schedule schedule : all) {
            if (!names.add(schedule.name())) {
                throw new DefinitionException("The schedule '%s' is declared twice. Give one of them another name."
                        .formatted(schedule.name()));
            }
        }
        return all;
    }

    private static Schedule schedule(ScheduledMethods.Found method) {
        Scheduled scheduled = method.scheduled();
        String name = scheduled.name().isEmpty() ? method.workflow() : scheduled.name();
        Invocation<Void> invocation = Invocation.of(method.workflow(), null, TypeRef.of(Void.class));
        try {
            return Schedule.cron(name, scheduled.cron(), ZoneId.of(scheduled.zone()), invocation)
                    .overlap(scheduled.overlap());
        } catch (DateTimeException unknown) {
            throw new DefinitionException(
                    "@Scheduled of %s names the time zone '%s', which does not exist. Write one such as Europe/Berlin or UTC."
                            .formatted(method.origin(), scheduled.zone()),
                    unknown);
        } catch (InvalidRequestException wrong) {
            throw new DefinitionException(
                    "@Scheduled of %s cannot be used. %s".formatted(method.origin(), wrong.getMessage()), wrong);
        }
    }

    /** What was registered, with the definitions of schedules that this process can fire. */
    static List<Object> definitions(TypedDags dags, List<Schedule> declared) {
        ScheduleFunction function = new ScheduleFunction(new FireTimes());
        List<Object> all = new ArrayList<>(dags.definitions());
        all.add(function.registered(ScheduleNames.SHARED));
        declared.forEach(schedule -> all.add(function.registered(ScheduleNames.declared(schedule.name()))));
        dags.names().stream()
                .filter(ScheduleNames::canBeScheduled)
                .forEach(dag -> all.add(function.registered(ScheduleNames.ofDag(dag))));
        return all;
    }
}
