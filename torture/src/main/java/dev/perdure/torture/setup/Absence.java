package dev.perdure.torture.setup;

import dev.perdure.torture.setup.OutsideLedger.Line;
import java.time.Duration;
import java.time.Instant;

/**
 * A time in which a process may have lost runs without knowing it. A body in which it was then may end after another process
 * has gone on with the run.
 *
 * @param pid the process
 * @param phase from the begin of that until every body is over in which it can have been
 */
public record Absence(long pid, Phase phase) {
    /** A body takes less than a second, and a busy machine some more. */
    private static final Duration TO_END_A_BODY = Duration.ofSeconds(10);

    /** Of a process that goes on now. */
    static Absence since(long pid, Instant begun) {
        return new Absence(pid, new Phase(begun, Instant.now().plus(TO_END_A_BODY)));
    }

    /** At any time. */
    public static Absence always(long pid) {
        return new Absence(pid, new Phase(Instant.MIN, Instant.MAX));
    }

    /** Whether the process has ended a body in it. */
    public boolean has(Line line) {
        return line.pid() == pid && phase.has(line);
    }
}
