package dev.perdure.internal.execution.host;

/**
 * Unwinds a workflow's stack when its run leaves memory. An {@link Error}, so that {@code catch (Exception)} in user code
 * cannot swallow it, and without a stack trace, so that it costs nothing. One that is swallowed all the same is thrown
 * again by the next context call, and what the workflow returns is ignored.
 */
public final class Unwind extends Error {
    private static final long serialVersionUID = 1L;

    /** Without a stack trace. */
    public Unwind(String why) {
        super(why, null, false, false);
    }
}
