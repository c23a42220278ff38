package dev.perdure.postgres.shard;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.CopyOut;

/** Copies rows from one server to another, without keeping more than one of them in memory. */
final class Pipe {
    private Pipe() {}

    /**
     * Copies what one COPY statement writes to another that reads it, and returns the number of rows.
     *
     * @param out writes to its standard output
     * @param in reads from its standard input
     */
    static long copy(Connection from, String out, Connection to, String in) throws SQLException {
        CopyOut reading = copies(from).copyOut(out);
        CopyIn writing = copies(to).copyIn(in);
        try {
            for (byte[] line = reading.readFromCopy(); line != null; line = reading.readFromCopy()) {
                writing.writeToCopy(line, 0, line.length);
            }
            return writing.endCopy();
        } finally {
            if (writing.isActive()) {
                writing.cancelCopy();
            }
            if (reading.isActive()) {
                reading.cancelCopy();
            }
        }
    }

    private static CopyManager copies(Connection connection) throws SQLException {
        return connection.unwrap(PGConnection.class).getCopyAPI();
    }
}
