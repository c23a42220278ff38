package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a step is to have returned, or to have failed with, in place of what it did. Immutable.
 *
 * <pre>{@code
 * run.pause("wrong price");
 * run.repair(Repair.result(2, new Price(100), "the partner sent cents as euros"));
 * run.resume();
 * }</pre>
 */
public final class Repair {
    private final int position;
    private final @Nullable Object value;
    private final @Nullable String failure;
    private final String why;

    private Repair(int position, @Nullable Object value, @Nullable String failure, String why) {
        if (position < 1) {
            throw new InvalidRequestException(
                    "The position is %s; it is at least 1. The history of the run shows its positions."
                            .formatted(position));
        }
        Texts.requireReason(why);
        if (why.isBlank()) {
            throw new InvalidRequestException("A repair needs a reason, which the audit records. Say why.");
        }
        this.position = position;
        this.value = value;
        this.failure = failure;
        this.why = why;
    }

    /**
     * The step at this position returned this value.
     *
     * @param position the position of the step in the history
     * @param value the value; the engine encodes it as its own class, and the run must be able to read that as the type
     *     of the step's result
     * @param why the reason, for the audit
     */
    public static Repair result(int position, @Nullable Object value, String why) {
        return new Repair(position, value, null, why);
    }

    /**
     * The step at this position failed finally with this message, so that the workflow gets a
     * {@link dev.perdure.error.StepFailedException}.
     */
    public static Repair failure(int position, String message, String why) {
        Texts.requireReason(message);
        return new Repair(position, null, message, why);
    }

    /** The position of the step. */
    public int position() {
        return position;
    }

    /** The value, if the step is not to have failed. */
    public @Nullable Object value() {
        return value;
    }

    /** What the step is to have failed with, if that is so. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    /** The reason. */
    public String why() {
        return why;
    }
}
