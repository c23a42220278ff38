package dev.perdure.spi;

import static dev.perdure.RunState.BACKING_OFF;
import static dev.perdure.RunState.CANCELLED;
import static dev.perdure.RunState.COMPLETED;
import static dev.perdure.RunState.FAILED;
import static dev.perdure.RunState.PAUSED;
import static dev.perdure.RunState.PENDING;
import static dev.perdure.RunState.READY;
import static dev.perdure.RunState.RUNNING;
import static dev.perdure.RunState.SKIPPED;
import static dev.perdure.RunState.SUSPENDED;

import dev.perdure.RunState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The table of the allowed changes of state; {@code docs/internals/lifecycle.md} shows it as a diagram. The store in
 * memory checks every change against it and throws on one that is not allowed. For the store on PostgreSQL a test
 * compares the states that random batches leave behind.
 */
public final class Lifecycle {
    /** The states that may follow an end, and only when a person orders a rerun. */
    private static final Set<RunState> NEW_LIFE = Set.of(PENDING, READY);

    private static final Map<RunState, Set<RunState>> NEXT = table();

    private Lifecycle() {}

    private static Map<RunState, Set<RunState>> table() {
        Map<RunState, Set<RunState>> next = new EnumMap<>(RunState.class);
        next.put(PENDING, EnumSet.of(READY, RUNNING, PAUSED, FAILED, CANCELLED));
        next.put(READY, EnumSet.of(RUNNING, PAUSED, CANCELLED));
        next.put(
                RUNNING,
                EnumSet.of(PENDING, READY, SUSPENDED, BACKING_OFF, PAUSED, COMPLETED, FAILED, CANCELLED, SKIPPED));
        next.put(SUSPENDED, EnumSet.of(READY, PAUSED, CANCELLED));
        next.put(BACKING_OFF, EnumSet.of(READY, PAUSED, CANCELLED));
        next.put(PAUSED, EnumSet.of(PENDING, READY, CANCELLED));
        for (RunState state : RunState.values()) {
            next.putIfAbsent(state, NEW_LIFE);
        }
        return Map.copyOf(next);
    }

    /** The states that may follow. */
    public static Set<RunState> next(RunState state) {
        return Set.copyOf(NEXT.getOrDefault(state, Set.of()));
    }

    /** Checks a change of state and returns the new state. */
    public static RunState move(RunState from, RunState to) {
        if (!NEXT.getOrDefault(from, Set.of()).contains(to)) {
            throw new IllegalStateException("A run cannot go from %s to %s.".formatted(from, to));
        }
        return to;
    }
}
