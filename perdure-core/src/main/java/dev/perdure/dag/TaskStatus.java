package dev.perdure.dag;

import dev.perdure.RunState;
import dev.perdure.error.RecordedException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A task of a run of a {@link Dag}, as the store has it.
 *
 * @param name its name
 * @param state where it is
 * @param after the tasks it comes after
 * @param attempts how often it was tried since it was last begun from the beginning
 * @param startedAt when a worker first had it, if one has
 * @param endedAt when it ended, if it has
 * @param reason why it is where it is: why it failed, was skipped or cancelled, and by what; that no live worker has it
 * @param error what it failed with, if it did
 */
public record TaskStatus(
        String name,
        RunState state,
        List<String> after,
        int attempts,
        Optional<Instant> startedAt,
        Optional<Instant> endedAt,
        Optional<String> reason,
        Optional<RecordedException> error) {}
