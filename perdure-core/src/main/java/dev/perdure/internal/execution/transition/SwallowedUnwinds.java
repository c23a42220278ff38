package dev.perdure.internal.execution.transition;

import dev.perdure.internal.execution.host.Unwind;
import java.lang.StackWalker.StackFrame;
import java.util.Set;

/**
 * Detects code that catches the {@link Unwind} of its run and keeps calling the context. Without an end to that, it
 * would occupy a processor for nothing.
 *
 * <p>How it works. Each call after the run has left memory throws again. A {@code finally} block that calls the context
 * does so once for each level of the stack that is left, each time from higher up. So only calls count that are made
 * from no higher than the call before.
 */
public final class SwallowedUnwinds {
    private static final Set<String> API =
            Set.of("dev.perdure", "dev.perdure.dag", "dev.perdure.object", "dev.perdure.transaction");

    private static final int ENOUGH = 5;
    /** How long the engine keeps throwing at code that continues after its worker has ended. */
    private static final int TOO_MANY = 10_000;

    private long lastDepth = Long.MAX_VALUE;
    private int swallowed;

    /** The code calls the context although the run has left memory. Returns whether it has swallowed that too often. */
    boolean areEnough() {
        if (swallowed >= ENOUGH) {
            swallowed++;
            return true;
        }
        long depth = StackWalker.getInstance().walk(frames -> frames.count());
        swallowed += depth >= lastDepth ? 1 : 0;
        lastDepth = depth;
        return swallowed >= ENOUGH;
    }

    /** Whether this is the first time that the count is reached. */
    public boolean areNew() {
        return swallowed == ENOUGH;
    }

    /** Whether the code will not end by itself. */
    public boolean areEndless() {
        return swallowed >= TOO_MANY;
    }

    /** The place in user code that calls the context. */
    public static String codeLine() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(SwallowedUnwinds::isOfUser)
                        .findFirst()
                        .map(StackFrame::toStackTraceElement)
                        .map(StackTraceElement::toString)
                        .orElse("an unknown line"));
    }

    private static boolean isOfUser(StackFrame frame) {
        String type = frame.getClassName();
        String room = type.substring(0, Math.max(0, type.lastIndexOf('.')));
        return !API.contains(room) && !type.startsWith("dev.perdure.internal.");
    }
}
