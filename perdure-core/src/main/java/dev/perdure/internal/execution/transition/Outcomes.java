package dev.perdure.internal.execution.transition;

import dev.perdure.RunState;
import dev.perdure.internal.execution.host.Departure;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Move;
import java.time.Instant;
import java.util.Optional;

/** Interprets the store's answer to a transition. */
final class Outcomes {
    private Outcomes() {}

    static boolean isApplied(Outcome outcome) {
        return outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere;
    }

    /** When the transition became durable, if it was applied. */
    static Optional<Instant> timeOf(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Applied applied -> Optional.of(applied.at());
            case Outcome.AlreadyThere there -> Optional.of(there.at());
            case Outcome.Woken woken -> Optional.of(woken.at());
            default -> Optional.empty();
        };
    }

    /** How the run left memory with a move that was applied. */
    static Departure departure(Move move, Outcome outcome) {
        RunState state = switch (outcome) {
            case Outcome.Applied applied -> applied.state();
            case Outcome.AlreadyThere there -> there.state();
            default -> throw new IllegalStateException("Not applied: " + outcome);
        };
        return switch (move) {
            case Move.End end -> new Departure.Ended(end.state(), end.outcome(), end.reason());
            case Move.Pause pause -> new Departure.Moved(state, Optional.of(pause.reason()));
            case Move.Recover recover -> new Departure.Moved(state, Optional.of(recover.reason()));
            case Move.Wait wait -> new Departure.Moved(state, Optional.empty());
            case Move.Yield() -> new Departure.Moved(state, Optional.empty());
            case Move.Restart restart -> new Departure.Moved(state, Optional.empty());
            case Move.Arrive() -> new Departure.Moved(state, Optional.empty());
            case Move.Stay() -> throw new IllegalStateException("Staying is not leaving.");
        };
    }
}
