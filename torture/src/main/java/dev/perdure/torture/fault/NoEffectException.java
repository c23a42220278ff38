package dev.perdure.torture.fault;

/** A fault was not injected, or nothing was seen of it; the message says why. */
public final class NoEffectException extends Exception {
    private static final long serialVersionUID = 1;

    NoEffectException(String why) {
        super(why);
    }
}
