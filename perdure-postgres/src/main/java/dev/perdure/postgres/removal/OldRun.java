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
 * @param parent the key of the run that has started it; 0 if none has
 * @param restarts how often it began anew
 * @param stripped whether only its id, input and outcome are left
 * @param belongs whether it is a child or a task of the run from which the pass has come to it, in the present life of that
 * @param kept whether its parent keeps it
 * @param named whether a start key keeps it
 * @param parental whether it has started others that are there
 */
record OldRun(
        long key,
        long epoch,
        Kind kind,
        Instant createdAt,
        long parent,
        int restarts,
        boolean stripped,
        boolean belongs,
        boolean kept,
        boolean named,
        boolean parental) {
    static OldRun of(ResultSet row) throws SQLException {
        return new OldRun(
                row.getLong("key"),
                row.getLong("epoch"),
                Kind.of(row),
                Results.time(row, "created_at"),
                row.getLong("parent"),
                row.getInt("restarts"),
                row.getBoolean("stripped"),
                row.getBoolean("belongs"),
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
