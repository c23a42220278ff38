package dev.perdure.spi.change;

import dev.perdure.RunId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A run to be.
 *
 * @param id its id
 * @param definition the name of what it runs
 * @param input its encoded input
 * @param seed 64 random bits: what the run's own ids and chances are derived from, and the token by which a start that
 *     was sent twice knows itself again
 * @param queue where it waits
 * @param priority higher goes first
 * @param version the only version of workers that may take it, or null
 * @param timeout after which its deadline is delivered, or null
 * @param delay how long it waits before it is ready, or null
 * @param parent who started it from inside a run, or null
 * @param object the virtual object that it is a call of, or null
 */
public record NewRun(
        RunId id,
        String definition,
        Payload input,
        long seed,
        String queue,
        int priority,
        @Nullable String version,
        @Nullable Duration timeout,
        @Nullable Duration delay,
        @Nullable Parent parent,
        @Nullable ObjectCall object) {
    /** A run that is no call of a virtual object. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Duration delay,
            @Nullable Parent parent) {
        this(id, definition, input, seed, queue, priority, version, timeout, delay, parent, null);
    }

    /** A run that is ready at once and has no parent. */
    public NewRun(
            RunId id,
            String definition,
            Payload input,
            long seed,
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout) {
        this(id, definition, input, seed, queue, priority, version, timeout, null, null);
    }

    /** The same run with another parent, or with none. */
    public NewRun withParent(@Nullable Parent other) {
        return new NewRun(id, definition, input, seed, queue, priority, version, timeout, delay, other, object);
    }

    /** The same run with another seed. */
    public NewRun withSeed(long other) {
        return new NewRun(id, definition, input, other, queue, priority, version, timeout, delay, parent, object);
    }

    /** The same run as a call of a virtual object. */
    public NewRun on(@Nullable ObjectCall call) {
        return new NewRun(id, definition, input, seed, queue, priority, version, timeout, delay, parent, call);
    }
}
