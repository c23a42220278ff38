package dev.perdure.internal.handle;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Runs;

/** What a caller is told who waited for a run for as long as it was willing to. */
final class Unfinished {
    private Unfinished() {}

    /** Where the run is, why, and what the caller can do. */
    static String describe(Runs runs, RunId id) {
        RunInfo info = runs.find(id)
                .orElseThrow(() -> new UnknownRunException("Run '%s' is no longer there.".formatted(id)))
                .info();
        String reason = info.reason().orElse("");
        return switch (info.state()) {
            case PAUSED ->
                "it is PAUSED: %s It goes on only when it is resumed: './perdure runs resume %s' or Run.resume()."
                        .formatted(Sentences.sentence(reason.isEmpty() ? "no reason was given" : reason), id);
            case PENDING, READY, RUNNING, SUSPENDED, BACKING_OFF, COMPLETED, FAILED, CANCELLED, SKIPPED ->
                "it is %s%s%s. It goes on; wait again."
                        .formatted(
                                info.state(),
                                reason.isEmpty() ? "" : " (" + reason + ")",
                                info.awaited().isEmpty() ? "" : " and waits for " + String.join(", ", info.awaited()));
        };
    }
}
