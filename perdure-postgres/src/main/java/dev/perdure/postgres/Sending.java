package dev.perdure.postgres;

import dev.perdure.postgres.PostgresLedger.Sender;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a batch, and when.
 *
 * @param sender the worker and its lane, or a client
 * @param time what time it is, or null if the server knows
 */
record Sending(Sender sender, @Nullable Instant time) {
    @Nullable
    Integer worker() {
        return sender.worker();
    }

    /** The lane. */
    Parameters lane(Parameters parameters) throws SQLException {
        return parameters.integer(sender.worker()).integer(sender.lane());
    }

    /** The time and the lane. */
    Parameters fence(Parameters parameters) throws SQLException {
        return lane(parameters.time(time));
    }

    /** The worker and its lane: a client has none, and needs none. */
    Parameters laneOfWorker(Parameters parameters) throws SQLException {
        return lane(parameters.integer(sender.worker()));
    }
}
