package dev.perdure.postgres.shard;

import dev.perdure.error.InvalidRequestException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Lets only one command at a time move partitions. The server releases it when the command dies. */
public final class MovingLock implements AutoCloseable {
    private static final String LOCK = "SELECT pg_try_advisory_lock(hashtextextended('perdure moves ' || ?, 0))";
    private static final String UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('perdure moves ' || ?, 0))";

    private final Connection connection;
    private final ShardServer server;

    private MovingLock(Connection connection, ShardServer server) {
        this.connection = connection;
        this.server = server;
    }

    /** Takes the lock of a server, which has to be the same one for all commands. */
    public static MovingLock on(ShardServer server) {
        try {
            MovingLock lock = new MovingLock(server.source().getConnection(), server);
            if (lock.asked(LOCK)) {
                return lock;
            }
            lock.connection.close();
        } catch (SQLException trouble) {
            throw server.unavailable(trouble);
        }
        throw new InvalidRequestException(
                "Another command moves partitions of these shards. Wait for its end, or stop it.");
    }

    private boolean asked(String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, server.schema().name());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** Releases it explicitly, because the connection of a pool stays open. */
    @Override
    public void close() {
        try (connection) {
            asked(UNLOCK);
        } catch (SQLException trouble) {
            throw server.unavailable(trouble);
        }
    }
}
