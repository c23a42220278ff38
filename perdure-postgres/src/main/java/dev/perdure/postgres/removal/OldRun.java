package dev.perdure.postgres.removal;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.spi.Removals;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * A run that a pass looks at.
 *
 * @param kind what the rules ask of it
 * @param stripped whether only its id, input and outcome are left
 * @param removing whether its removal has begun
 * @param kept whether its parent keeps it
 * @param named whether a start key keeps it
 * @param parental whether it has children or tasks
 */
record OldRun(
        long key,
        long epoch,
        Kind kind,
        Instant createdAt,
        boolean stripped,
        boolean removing,
        boolean kept,
        boolean named,
        boolean parental) {
    static OldRun of(ResultSet row) throws SQLException {
        return new OldRun(
                row.getLong("key"),
                row.getLong("epoch"),
                Kind.of(row),
                Results.time(row, "created_at"),
                row.getBoolean("stripped"),
                row.getBoolean("removing"),
                row.getBoolean("kept"),
                row.getBoolean("named"),
                row.getBoolean("parental"));
    }

    /** Whether it can be removed, as far as it alone is concerned. */
    boolean isOver(Expiry expiry) {
        return !kept && !named && !isCopied(expiry.now()) && expiry.isOver(kind);
    }

    /** Whether a second copy of the request that started it may still arrive. */
    boolean isCopied(Instant now) {
        return Keys.isUnanswered(key) && createdAt.plus(Removals.COPIES).isAfter(now);
    }

    /** What a rule asks of a run, and when the run ended. */
    record Kind(String definition, String queue, RunState state, Instant changedAt) {
        static Kind of(ResultSet row) throws SQLException {
            return new Kind(
                    row.getString("definition"),
                    row.getString("queue"),
                    Codes.state(row.getInt("state")),
                    Results.time(row, "changed_at"));
        }
    }
}
