package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How to fork a run. Immutable.
 *
 * <pre>{@code
 * run.fork(ForkOptions.from(4).id("order-42-again"));
 * }</pre>
 */
public final class ForkOptions {
    private final int position;
    private final @Nullable RunId id;
    private final @Nullable Object input;
    private final boolean hasInput;

    private ForkOptions(int position, @Nullable RunId id, @Nullable Object input, boolean hasInput) {
        this.position = position;
        this.id = id;
        this.input = input;
        this.hasInput = hasInput;
    }

    /**
     * Continues at this position of the journal: the fork takes over what was recorded before it, and makes this call
     * itself. 1 is the first call.
     */
    public static ForkOptions from(int position) {
        if (position < 1) {
            throw new InvalidRequestException(
                    "The position is %d; it is at least 1. The history of the run shows its positions."
                            .formatted(position));
        }
        return new ForkOptions(position, null, null, false);
    }

    /** The id of the fork. Without it, the engine makes one. */
    public ForkOptions id(String value) {
        return new ForkOptions(position, RunId.of(value), input, hasInput);
    }

    /**
     * Another input. Without it, the fork has that of the run. What was recorded before the position stays as it was.
     */
    public ForkOptions input(@Nullable Object value) {
        return new ForkOptions(position, id, value, true);
    }

    /** The position at which the fork continues. */
    public int position() {
        return position;
    }

    /** The id, if one was given. */
    public Optional<RunId> id() {
        return Optional.ofNullable(id);
    }

    /** Whether it has an input of its own. */
    public boolean hasInput() {
        return hasInput;
    }

    /** The input, or null. */
    public @Nullable Object input() {
        return input;
    }
}
