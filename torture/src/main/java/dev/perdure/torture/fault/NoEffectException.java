package dev.perdure.torture.fault;

/** A fault was not injected, or nothing was seen of it. */
public final class NoEffectException extends Exception {
    private static final long serialVersionUID = 1;

    private final String why;

    NoEffectException(String why) {
        super(why);
        this.why = why;
    }

    /** Why not. */
    public String why() {
        return why;
    }
}
