package dev.perdure.postgres.shard;

import dev.perdure.postgres.shard.RunTables.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps automatic vacuums away from tables until it is closed: they skip a table that is locked. Others read and write
 * meanwhile. Only speed depends on it, so it does without the lock if it cannot have it.
 */
public final class NoVacuums implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.store");

    private final Connection connection;
    private final boolean autoCommit;

    private NoVacuums(Connection connection) throws SQLException {
        this.connection = connection;
        this.autoCommit = connection.getAutoCommit();
    }

    static NoVacuums on(ShardServer server, List<Table> tables) {
        try {
            return begun(new NoVacuums(server.source().getConnection()), server, tables);
        } catch (SQLException trouble) {
            throw server.unavailable(trouble);
        }
    }

    private static NoVacuums begun(NoVacuums held, ShardServer server, List<Table> tables) throws SQLException {
        try {
            held.begin(server, tables);
            return held;
        } catch (SQLException | RuntimeException | Error failed) {
            held.close();
            throw failed;
        }
    }

    private void begin(ShardServer server, List<Table> tables) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute(ShardServer.BEFORE_VACUUMS);
            statement.execute(server.noVacuums(tables));
        } catch (SQLException locked) {
            LOG.debug("Automatic vacuums may delay the move.", locked);
            connection.rollback();
        }
    }

    @Override
    public void close() {
        try (connection) {
            connection.rollback();
            connection.setAutoCommit(autoCommit);
        } catch (SQLException lost) {
            LOG.debug("The connection that kept vacuums away is lost.", lost);
        }
    }
}
