package dev.perdure.internal.execution.transition;

import dev.perdure.internal.execution.host.Unwind;
import java.lang.StackWalker.StackFrame;
import java.util.Set;

/**
 * Finds code that catches the {@link Unwind} of its run and goes on calling the context: without an end to that it would take a
 * processor for itself, for nothing.
 *
 * <p>How it works. Each call after the run has left memory throws again. A {@code finally} that calls the context does so once for
 * each level of the stack that is left, and each time from higher up; so only calls count that are made from no higher than the one
 * before.
 */
public final class SwallowedUnwinds {
    private static final Set<String> API =
            Set.of("dev.perdure", "dev.perdure.dag", "dev.perdure.object", "dev.perdure.transaction");

    private static final int ENOUGH = 5;
    /** Code that is let go on, because its worker has ended, is thrown at for so long. */
    private static final int TOO_MANY = 10_000;

    private long lastDepth = Long.MAX_VALUE;
    private int swallowed;

    /** The context is called although the run has left memory; says whether the code has swallowed that too often. */
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

    /** Whether this is the first time that they are enough. */
    public boolean areNew() {
        return swallowed == ENOUGH;
    }

    /** Whether the code will not end by itself. */
    public boolean areEndless() {
        return swallowed >= TOO_MANY;
    }

    /** Where user code calls the context. */
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
