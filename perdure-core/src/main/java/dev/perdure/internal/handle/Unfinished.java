package dev.perdure.internal.handle;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Runs;

/** The message for a caller whose wait for a run has timed out. */
final class Unfinished {
    private Unfinished() {}

    /** The state of the run, the reason, and what the caller can do. */
    static String describe(Runs runs, RunId id) {
        RunInfo info = runs.find(id)
                .orElseThrow(() -> new UnknownRunException("Run '%s' no longer exists.".formatted(id)))
                .info();
        String reason = info.reason().orElse("");
        return switch (info.state()) {
            case PAUSED ->
                "it is PAUSED: %s It continues only when it is resumed: './perdure runs resume %s' or Run.resume()."
                        .formatted(Sentences.sentence(reason.isEmpty() ? "no reason was given" : reason), id);
            case PENDING, READY, RUNNING, SUSPENDED, BACKING_OFF, COMPLETED, FAILED, CANCELLED, SKIPPED ->
                "it is %s%s It continues; wait again."
                        .formatted(info.state(), reason.isEmpty() ? "." : ": " + Sentences.sentence(reason));
        };
    }
}
