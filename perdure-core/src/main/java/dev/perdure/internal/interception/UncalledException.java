package dev.perdure.internal.interception;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The interceptors did not call the code of a run. The message is the reason for which the run is paused. */
public final class UncalledException extends Exception {
    private static final long serialVersionUID = 1L;

    UncalledException(String run, @Nullable Throwable cause) {
        super(
                "The code of run '%s' was not called, because an interceptor %s. Fix the interceptor, deploy that, then resume the run."
                        .formatted(
                                run,
                                Optional.ofNullable(cause)
                                        .map(thrown -> "threw " + thrown)
                                        .orElse("did not call it")),
                cause);
    }
}
