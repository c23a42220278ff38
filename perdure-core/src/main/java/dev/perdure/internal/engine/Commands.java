package dev.perdure.internal.engine;

import dev.perdure.InvalidRequestException;
import dev.perdure.RunChange;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.UnknownRunException;
import dev.perdure.spi.Change;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Runs;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Cancel, kill, pause and resume. */
final class Commands {
    private static final int MAX_REASON = 1_000;

    private final Commits commits;
    private final Listeners listeners;
    private final Runs runs;

    Commands(Commits commits, Listeners listeners, Runs runs) {
        this.commits = commits;
        this.listeners = listeners;
        this.runs = runs;
    }

    void order(RunRef run, Change.Order order, String reason) {
        requireReason(reason);
        Optional<RunInfo> before = runs.find(run.id()).map(Runs.Found::info);
        Outcome outcome = commits.commitAll(List.of(new Change.Command(run.id(), order, reason)))
                .getFirst();
        switch (outcome) {
            case Outcome.UnknownRun unknown ->
                throw new UnknownRunException("There is no run '%s'. Check the id.".formatted(run.id()));
            case Outcome.Applied applied -> before.ifPresent(info -> tell(info, applied.state(), reason));
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        }
    }

    static void requireReason(@Nullable String reason) {
        if (reason == null
                || reason.length() > MAX_REASON
                || !reason.codePoints().allMatch(Commands::storable)) {
            throw new InvalidRequestException(
                    "The reason is null, longer than %d characters, or holds U+0000 or half a surrogate pair. Shorten or clean it."
                            .formatted(MAX_REASON));
        }
    }

    private static boolean storable(int codePoint) {
        return codePoint != 0 && Character.getType(codePoint) != Character.SURROGATE;
    }

    /** A command that is left on the row for the run's worker, or that comes too late, changes no state. */
    private void tell(RunInfo before, RunState state, String reason) {
        if (state != before.state() && state != RunState.RUNNING) {
            Optional<String> why = Optional.of(reason).filter(text -> !text.isEmpty());
            listeners.tell(new RunChange(before.id(), before.definition(), state, why));
        }
    }
}
