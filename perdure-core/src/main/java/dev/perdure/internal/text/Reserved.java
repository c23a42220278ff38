package dev.perdure.internal.text;

import dev.perdure.error.InvalidRequestException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The names that are the engine's own. Only runs of its own definitions have such ids, and are in such queues: otherwise
 * a run of an application takes the place of a schedule, and a limit of its queue stops all schedules. The inbox of
 * PostgreSQL has the same rule for starts from SQL.
 */
public final class Reserved {
    /** What the names of its definitions, queues and topics begin with. */
    public static final String NAMES = "perdure.";

    /** What the ids of schedules begin with. */
    public static final String SCHEDULE = "schedule:";

    /** What the ids of bulk operations begin with. */
    public static final String BULK = "bulk:";

    /** What the ids of re-encryptions begin with. */
    public static final String REENCRYPTION = "reencryption:";

    /** What the ids of runs begin with that reactions have started. */
    public static final String REACTION = "reaction:";

    /** All beginnings of ids. */
    public static final List<String> IDS = List.of(SCHEDULE, BULK, REENCRYPTION, REACTION);

    private Reserved() {}

    /** Refuses an id that is reserved. */
    public static void requireFreeId(String what, String id) {
        IDS.forEach(prefix -> requireFree(what, id, prefix));
    }

    /** Refuses a queue that is reserved. */
    public static void requireFreeQueue(@Nullable String queue) {
        if (queue != null) {
            requireFree("queue", queue, NAMES);
        }
    }

    private static void requireFree(String what, String value, String prefix) {
        if (value.startsWith(prefix)) {
            throw new InvalidRequestException(
                    "The %s '%s' begins with '%s', which is reserved for the engine. Choose another one."
                            .formatted(what, value, prefix));
        }
    }
}
