package dev.perdure.testing;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of the kit by a test, for messages.
 *
 * @param method the method that the test calls
 * @param file the file of the test
 * @param line the line of the call
 */
record TestCall(String method, @Nullable String file, int line) {
    /** Through whose frames a call of a test reaches the engine, with those of the JDK between them. */
    private static final Set<String> KIT = Set.of(
            TestCall.class.getName(),
            PerdureTest.class.getName(),
            ForwardingPerdure.class.getName(),
            LastingObject.class.getName(),
            LastingRuns.class.getName(),
            LastingOutbox.class.getName());

    /** The call that this thread is in. */
    static TestCall present() {
        return StackWalker.getInstance().walk(frames -> of(frames.toList()));
    }

    private static TestCall of(List<StackWalker.StackFrame> stack) {
        String method = "";
        for (StackWalker.StackFrame frame : stack) {
            String name = frame.getClassName();
            if (KIT.contains(name)) {
                method = frame.getMethodName();
            } else if (!name.startsWith("java.")) {
                return new TestCall(method, frame.getFileName(), frame.getLineNumber());
            }
        }
        return new TestCall(method, null, 0);
    }

    @Override
    public String toString() {
        return "%s(…) at %s:%s".formatted(method, file, line);
    }
}
