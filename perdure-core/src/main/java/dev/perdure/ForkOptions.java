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
    private final boolean compensated;

    private ForkOptions(
            int position, @Nullable RunId id, @Nullable Object input, boolean hasInput, boolean compensated) {
        this.position = position;
        this.id = id;
        this.input = input;
        this.hasInput = hasInput;
        this.compensated = compensated;
    }

    /**
     * Continues at this position of the journal: the fork takes over what was recorded before it, and makes this call
     * itself. 1 is the first call.
     */
    public static ForkOptions from(int position) {
        if (position < 1) {
            throw new InvalidRequestException(
                    "The position is %s; it is at least 1. The history of the run shows its positions."
                            .formatted(position));
        }
        return new ForkOptions(position, null, null, false, false);
    }

    /** The id of the fork. Without it, the engine makes one. */
    public ForkOptions id(String value) {
        return new ForkOptions(position, RunId.of(value), input, hasInput, compensated);
    }

    /**
     * Another input. Without it, the fork has that of the run. What was recorded before the position stays as it was.
     */
    public ForkOptions input(@Nullable Object value) {
        return new ForkOptions(position, id, value, true, compensated);
    }

    /**
     * Lets the fork take over steps that a {@link Saga} of the run has undone. Otherwise such a fork is refused, because it
     * would go on as if they were done.
     */
    public ForkOptions allowCompensated() {
        return new ForkOptions(position, id, input, hasInput, true);
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

    /** Whether it may take over what was undone. */
    public boolean isCompensatedAllowed() {
        return compensated;
    }

    /** The input, or null. */
    public @Nullable Object input() {
        return input;
    }
}
