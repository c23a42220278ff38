package dev.perdure.internal.schedule;

import dev.perdure.Definition;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.internal.text.Reserved;
import java.time.Instant;

/** The ids, definitions and topics of schedules. They are stored, so they never change. */
public final class ScheduleNames {
    /** What the ids of all schedules begin with. */
    public static final String PREFIX = Reserved.SCHEDULE;

    /** The definition of schedules that were made at run time. Every worker has it. */
    public static final String SHARED = "perdure.schedule";

    /** What a schedule is asked to do. */
    public static final Topic<ScheduleCommand> COMMANDS = Topic.of("perdure.schedule", ScheduleCommand.class);

    private ScheduleNames() {}

    /** The run that a schedule is. */
    public static RunId run(String schedule) {
        return RunId.of(PREFIX + schedule);
    }

    /** The schedule that a run is. */
    public static String schedule(RunId run) {
        return run.value().substring(PREFIX.length());
    }

    /**
     * The definition that a schedule has as it is now. A deleted one is anybody's, so that its name can be declared, or
     * made at run time, whatever it was before.
     */
    static String definition(String schedule, ScheduleState state) {
        ScheduleSpec spec = state.spec();
        if (spec == null) {
            return SHARED;
        }
        if (state.declared() != null) {
            return declared(schedule);
        }
        return spec.what().dag() ? ofDag(spec.what().definition()) : SHARED;
    }

    /** The definition of a schedule that the code declares. Only workers that declare it have it. */
    public static String declared(String schedule) {
        return SHARED + ":" + schedule;
    }

    /** The definition of a schedule that runs a DAG and was made at run time. Workers that have the DAG have it. */
    public static String ofDag(String dag) {
        return SHARED + ".dag:" + dag;
    }

    /** Whether the name of a DAG is short enough. */
    public static boolean canBeScheduled(String dag) {
        return ofDag(dag).length() <= Definition.MAX_NAME_LENGTH;
    }

    /** Whether a run with this id and definition is a schedule. */
    public static boolean isSchedule(RunId run, String definition) {
        return run.value().startsWith(PREFIX)
                && (definition.equals(SHARED)
                        || definition.startsWith(ofDag(""))
                        || definition.equals(declared(schedule(run))));
    }

    /** The run of a fire time. */
    static RunId fired(String schedule, Instant time) {
        return RunId.of(schedule + "@" + time);
    }

    /** A run that was triggered by hand. */
    public static RunId triggered(String schedule, String unique) {
        return RunId.of(schedule + "!" + unique);
    }
}
