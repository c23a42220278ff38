package dev.perdure;

import dev.perdure.attribute.Description;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A run as the store has it, without payloads.
 *
 * @param id its id
 * @param definition the name of its definition
 * @param state its state
 * @param reason why it is in that state, for a run that is paused, cancelled or failed; for a ready run, why no worker
 *     has taken it: no live worker has its definition, its queue is paused, or its queue or its key is full and which
 *     runs hold the places; for a waiting run, until when and for what it waits, which attempt has failed, which run
 *     holds its object, or which runs it comes after
 * @param createdAt when it was started
 * @param changedAt when its state last changed
 * @param wakeAt when its timer or back-off ends, if it sleeps or backs off
 * @param recoveries how often a sweep has taken it from a dead worker since it last made progress
 * @param awaited what it waits for apart from {@code wakeAt}, if it is suspended: {@code message 'paid'},
 *     {@code promise 'approval'}, {@code run 'o-1.child'}, {@code event 'stock'}, {@code awakeable at position 3}; at
 *     most ten of them
 * @param description what it says about itself: its attributes, its memo and its status
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
        List<String> awaited,
        Description description) {
    /** Copies the list. */
    public RunInfo {
        awaited = List.copyOf(awaited);
    }

    /** For the engine: a run of which no more is known, such as the one after which a page begins. */
    public static RunInfo of(RunId id, RunState state, Optional<String> reason, Instant createdAt) {
        return new RunInfo(
                id, "", state, reason, createdAt, createdAt, Optional.empty(), 0, List.of(), Description.NONE);
    }
}
