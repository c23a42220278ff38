package dev.perdure;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run as the store has it, without its payloads.
 *
 * @param id its id
 * @param definition the name of what it runs
 * @param state where it is
 * @param reason why it is there, for states that have a reason: paused, cancelled, failed; and, for a ready run, that no
 *     live worker has its definition
 * @param createdAt when it was started
 * @param changedAt when its state last changed
 * @param wakeAt when it goes on by itself, if it sleeps or backs off
 * @param recoveries how often it was taken from a dead worker since it last made progress
 * @param awaited what it waits for besides {@code wakeAt}, if it is suspended: {@code message 'paid'}, {@code promise
 *     'approval'}, {@code run 'o-1.child'}, {@code event 'stock'}, {@code awakeable at position 3}; ten of them at most
 */
public record RunInfo(
        RunId id,
        String definition,
        RunState state,
        Optional<String> reason,
        Instant createdAt,
        Instant changedAt,
        Optional<Instant> wakeAt,
        int recoveries,
        List<String> awaited) {
    /** Copies what it waits for. */
    public RunInfo {
        awaited = List.copyOf(awaited);
    }

    /** The same, of a run that waits for this. */
    public RunInfo awaiting(List<String> what) {
        return new RunInfo(id, definition, state, reason, createdAt, changedAt, wakeAt, recoveries, what);
    }

    /** Convenience for stores. */
    public static RunInfo of(
            RunId id,
            String definition,
            RunState state,
            @Nullable String reason,
            Instant createdAt,
            Instant changedAt,
            @Nullable Instant wakeAt,
            int recoveries) {
        return new RunInfo(
                id,
                definition,
                state,
                Optional.ofNullable(reason),
                createdAt,
                changedAt,
                Optional.ofNullable(wakeAt),
                recoveries,
                List.of());
    }
}
