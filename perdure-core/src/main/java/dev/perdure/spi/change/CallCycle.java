package dev.perdure.spi.change;

import dev.perdure.RunId;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How stores speak of calls of virtual objects that wait for each other and so would never end. */
public final class CallCycle {
    private CallCycle() {}

    /**
     * A run that waits for the next one of the circle.
     *
     * @param run the run
     * @param definition what it runs
     * @param object the virtual object that it is a call of, or null
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

    /** Why a call of the circle is refused, with the whole chain: each waits for the one after it. */
    public static String message(List<Member> members) {
        String chain = members.stream().map(Member::toString).collect(Collectors.joining(" waits for "));
        return "Calls wait for each other in a circle: %s waits for %s. Let one of them send instead of call, or call a shared handler."
                .formatted(chain, members.getFirst());
    }
}
