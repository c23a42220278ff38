package dev.perdure.interceptor;

/**
 * Thrown through the code of a run that leaves the memory of its worker: it waits, is paused, was killed, or is given
 * back because the worker closes or has lost it. The code has not failed, and a worker may enter it again. Only the
 * engine throws it. It is an {@link Error}, so that {@code catch (Exception)} in a workflow does not catch it.
 */
public abstract class Unwinding extends Error {
    private static final long serialVersionUID = 1L;

    /** For the engine: without a stack trace, so that it is cheap. */
    protected Unwinding(String why) {
        super(why, null, false, false);
    }
}
