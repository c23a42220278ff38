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
 * @param state its state
 * @param after the tasks that it comes after
 * @param attempts how many attempts it has made since it last began anew
 * @param startedAt when a worker first took it, if one has
 * @param endedAt when it ended, if it has
 * @param reason why it is in this state: why it failed, was skipped or was cancelled; or that no live worker has its
 *     definition
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
