package dev.perdure.internal.execution.host;

import dev.perdure.interceptor.Unwinding;

/**
 * Unwinds a workflow's stack when its run leaves memory. It is an {@link Error}, so that {@code catch (Exception)} in
 * user code does not catch it, and it has no stack trace, so that it is cheap. If user code catches it all the same,
 * the next context call throws it again, and the engine ignores what the workflow returns.
 */
public final class Unwind extends Unwinding {
    private static final long serialVersionUID = 1L;

    /** Without a stack trace. */
    public Unwind(String why) {
        super(why);
    }
}
