package dev.perdure.error;

/** No engine has declared a limiter of this name. */
public final class UnknownLimiterException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownLimiterException(String message) {
        super(message, null);
    }
}
