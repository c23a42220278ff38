package dev.perdure.spi.change;

import dev.perdure.RunId;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The failure of calls of virtual objects that wait for each other in a cycle and so would never end. For stores. */
public final class CallCycle {
    private CallCycle() {}

    /**
     * A run that waits for the next member of the cycle.
     *
     * @param run the run
     * @param definition the name of its definition
     * @param object the virtual object that it calls, or null
     */
    public record Member(
            RunId run, String definition, @Nullable ObjectKey object) {
        @Override
        public String toString() {
            return object == null
                    ? "'%s' (%s)".formatted(run, definition)
                    : "'%s' (%s of '%s')".formatted(run, definition, object.key());
        }
    }

    /** The message of a refused call, with the whole chain: each member waits for the one after it. */
    public static String message(List<Member> members) {
        String chain = members.stream().map(Member::toString).collect(Collectors.joining(" waits for "));
        return "Calls wait for each other in a cycle: %s waits for %s. Let one of them send instead of call, or call a shared handler."
                .formatted(chain, members.getFirst());
    }
}
