package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Entries;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Move;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The end of a run that has a result and whose parent waits for it, when it is all that a batch does. */
record LoneEnd(Change.Advance advance, Move.End end) {
    /** The end in this batch, or null if it does more than {@link MailSql#endForHeld} can. */
    static @Nullable LoneEnd of(Batch batch) {
        if (batch.size != 1 || batch.moves.size() != 1) {
            return null;
        }
        Change.Advance advance = batch.moves.getFirst().change();
        long key = advance.run().key();
        boolean onlyAnswers = Keys.answers(key) && !Keys.precedes(key) && !Keys.holds(key);
        boolean onlyTakes = advance.effects().stream().allMatch(Effect.Take.class::isInstance);
        return onlyAnswers && onlyTakes && advance.move() instanceof Move.End end && end.state() == RunState.COMPLETED
                ? new LoneEnd(advance, end)
                : null;
    }

    void bind(Parameters parameters, Sender sender, Entries entries, @Nullable Instant time) throws SQLException {
        long key = advance.run().key();
        parameters.integer(sender.worker()).integer(sender.lane());
        parameters.number(key).number(advance.epoch()).integer(sender.worker()).number(key);
        parameters.time(time).bytes(end.outcome().bytes());
        parameters.number(key).longs(LoneLetter.taken(advance.effects()));
        entries.bind(parameters);
        parameters.integer(sender.worker()).number(key).time(time).number(key);
    }
}
