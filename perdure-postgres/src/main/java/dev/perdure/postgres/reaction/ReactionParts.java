package dev.perdure.postgres.reaction;

import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The last part of a batch that may let runs fail, pause them or cancel them: it requests the runs of reactions to
 * that, in the transaction of the batch.
 */
public final class ReactionParts {
    private ReactionParts() {}

    /**
     * The part.
     *
     * @param touched the runs that the batch may have changed
     * @param now the time of the batch, or null for that of the server
     * @param requested called after the batch if it has requested runs
     */
    public static Part react(ReactionSql sql, TouchedRuns touched, @Nullable Instant now, Runnable requested) {
        return new Part(sql.react, parameters -> bind(parameters, touched, now), results -> {
            if (results.one().getLong(1) > 0) {
                requested.run();
            }
        });
    }

    /** The text of that part, for a statement that is not sent as parts. See {@link #bind}. */
    public static String text(ReactionSql sql) {
        return sql.react;
    }

    /** Binds the parameters of that part. */
    public static void bind(Parameters parameters, TouchedRuns touched, @Nullable Instant now) throws SQLException {
        parameters
                .longs(touched.keyArray())
                .texts(touched.ids())
                .texts(touched.dags())
                .time(now);
    }
}
