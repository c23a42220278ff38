package dev.perdure.audit;

import java.time.Instant;
import java.util.Locale;
import java.util.UUID;

/**
 * A command that has changed something.
 *
 * @param id identifies the entry
 * @param at when the command took effect, by the store's clock
 * @param operator who gave it, and from where
 * @param action what was done
 * @param subject to what kind of thing
 * @param name the name of that thing: the id of the run, the name of the queue, limiter, schedule, version or
 *     reaction; empty for the retention
 * @param position the position in the journal of the run, if it concerns one call; otherwise 0
 * @param detail the reason, or what was changed; may be empty
 */
public record AuditEntry(
        UUID id,
        Instant at,
        Operator operator,
        Action action,
        Subject subject,
        String name,
        int position,
        String detail) {
    /** What is done to something. */
    public enum Action {
        /** A run was cancelled. */
        CANCEL,
        /** A run was killed. */
        KILL,
        /** A run, queue, limiter, schedule or reaction was paused. */
        PAUSE,
        /** It continues; a version takes runs again. */
        RESUME,
        /** A run that had ended continues from the step that failed. */
        RETRY,
        /** A run was started with what this one has recorded. */
        FORK,
        /** The recorded answer of a step was replaced. */
        REPAIR,
        /** Tasks of a DAG were begun anew. */
        RERUN,
        /** An awakeable was resolved without its token. */
        RESOLVE,
        /** An awakeable was rejected without its token. */
        REJECT,
        /** The limits of a queue or limiter, a schedule or the retention were changed. */
        CHANGE,
        /** What the code declares holds again. */
        RESET,
        /** A schedule started a run out of turn. */
        TRIGGER,
        /** A schedule makes up for a range of time. */
        BACKFILL,
        /** A schedule leaves out its next time. */
        SKIP_NEXT,
        /** A schedule, a reaction, or a run that had ended, was deleted. */
        DELETE,
        /** A run was moved to another queue or version. */
        MOVE,
        /** A version of workers takes no more runs, of one definition or of all. */
        DRAIN
    }

    /** What a command is for. */
    public enum Subject {
        /** A run. */
        RUN,
        /** A queue. */
        QUEUE,
        /** A limiter of steps. */
        LIMITER,
        /** A schedule. */
        SCHEDULE,
        /** The retention. */
        RETENTION,
        /** A version of workers. */
        VERSION,
        /** A reaction. */
        REACTION
    }

    /** The entry in a line, such as {@code PAUSE run 'order-42' by anna@shop-1: wrong price}. */
    public String text() {
        StringBuilder text = new StringBuilder(action.name())
                .append(' ')
                .append(subject.name().toLowerCase(Locale.ROOT));
        if (!name.isEmpty()) {
            text.append(" '").append(name).append('\'');
        }
        if (position > 0) {
            text.append(" #").append(position);
        }
        text.append(" by ").append(operator);
        return detail.isEmpty()
                ? text.toString()
                : text.append(": ").append(detail).toString();
    }
}
