package dev.perdure.error;

/**
 * A step has used up its attempts, or failed with an exception that its policy does not retry. Every replay throws the
 * same exception, so a workflow can catch it and compensate.
 */
public final class StepFailedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    private final String step;
    private final int attempts;
    private final String errorType;

    /** For the engine. The cause carries the original message and stack, not the original class. */
    public StepFailedException(String step, int attempts, RecordedException cause) {
        super(
                "Step '%s' failed after %s %s: %s"
                        .formatted(step, attempts, attempts == 1 ? "attempt" : "attempts", cause),
                cause);
        this.step = step;
        this.attempts = attempts;
        this.errorType = cause.type();
    }

    /** The step's name. */
    public String step() {
        return step;
    }

    /** How many attempts were made. */
    public int attempts() {
        return attempts;
    }

    /** The class name of the last exception. */
    public String errorType() {
        return errorType;
    }
}
