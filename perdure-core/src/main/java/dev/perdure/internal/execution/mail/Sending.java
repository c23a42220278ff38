package dev.perdure.internal.execution.mail;

import dev.perdure.RunId;
import dev.perdure.interceptor.SendCall;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.transition.Transitions;
import java.util.Map;
import java.util.Optional;

/** Asks the interceptors for the headers of what a run sends. */
public record Sending(Host host, RunId run, Transitions transitions) {
    /** For what the run sends with its next transition. */
    Map<String, String> headers(SendCall.Kind kind, String name, Optional<RunId> to) {
        try {
            return asked(kind, name, to);
        } catch (RuntimeException | Error thrown) {
            throw transitions.stop(
                    "An interceptor threw %s when run '%s' sent something to another run. Fix the interceptor, deploy that, then resume the run."
                            .formatted(thrown, run));
        }
    }

    /** For what the run sends in the body of a step: what an interceptor throws fails the attempt. */
    Map<String, String> inStep(SendCall.Kind kind, String name) {
        return asked(kind, name, Optional.empty());
    }

    private Map<String, String> asked(SendCall.Kind kind, String name, Optional<RunId> to) {
        return host.rules().interceptors().send(kind, name, to, Optional.of(run));
    }
}
