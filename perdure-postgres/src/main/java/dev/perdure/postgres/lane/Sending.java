package dev.perdure.postgres.lane;

import dev.perdure.postgres.jdbc.Parameters;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sender and the time of a batch.
 *
 * @param sender the worker and its lane, or a client
 * @param time the time to write, or null for the server's time
 * @param limited the queues whose runs begin only by a poll
 */
public record Sending(Sender sender, @Nullable Instant time, Set<String> limited) {
    @Nullable
    public Integer worker() {
        return sender.worker();
    }

    /** The lane. */
    public Parameters lane(Parameters parameters) throws SQLException {
        return parameters.integer(sender.worker()).integer(sender.lane());
    }

    /** The time and the lane. */
    public Parameters fence(Parameters parameters) throws SQLException {
        return lane(parameters.time(time));
    }

    /** The worker and its lane. A client has none and needs none. */
    public Parameters laneOfWorker(Parameters parameters) throws SQLException {
        return lane(parameters.integer(sender.worker()));
    }
}
