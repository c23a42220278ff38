package dev.perdure.torture.setup;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * What really happened, outside the engine: a plain table without constraints, written by autocommit, so that anything
 * done twice or too early shows.
 */
public final class OutsideLedger {
    private static final String CREATE = """
            CREATE TABLE outside_ledger (
                number bigint GENERATED ALWAYS AS IDENTITY,
                run text NOT NULL, step text NOT NULL, value text NOT NULL, pid bigint NOT NULL,
                at timestamptz NOT NULL DEFAULT clock_timestamp())
            """;
    private static final String INSERT = "INSERT INTO outside_ledger (run, step, value, pid) VALUES (?, ?, ?, ?)";
    private static final String SIZE_AFTER = "SELECT count(*) FROM outside_ledger WHERE pid = ? AND at > ?";
    private static final String SELECT =
            "SELECT run, step, value, pid, at FROM outside_ledger WHERE starts_with(run, ?) ORDER BY number";

    private final DataSource database;

    /** The ledger of this database. */
    public OutsideLedger(DataSource database) {
        this.database = database;
    }

    /** One execution of a body. */
    public record Line(String run, String step, String value, long pid, Instant at) {
        /** The execution of the run in which it was. */
        public String execution() {
            return value.replaceFirst(".*/(\\d+/\\d+)/\\d+$", "$1");
        }
    }

    /** Creates its table. */
    public void create() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement create = connection.prepareStatement(CREATE)) {
            create.execute();
        }
    }

    /** A value that no other execution of any body gives. */
    public String write(String run, String step) throws SQLException {
        return write(run, step, System.nanoTime());
    }

    /**
     * The same, for a run that is executed once or more in a process.
     *
     * @param execution another for each execution of the run, and the same for all bodies of one
     */
    public String write(String run, String step, long execution) throws SQLException {
        long pid = ProcessHandle.current().pid();
        String value = run + "/" + step + "/" + pid + "/" + execution + "/" + System.nanoTime();
        try (Connection connection = database.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, run);
            insert.setString(2, step);
            insert.setString(3, value);
            insert.setLong(4, pid);
            insert.executeUpdate();
        }
        return value;
    }

    /** Writes a line in a transaction of the engine's. */
    public static void write(Connection connection, String run, String step, String value) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setString(1, run);
            insert.setString(2, step);
            insert.setString(3, value);
            insert.setLong(4, ProcessHandle.current().pid());
            insert.executeUpdate();
        }
    }

    /** The time by which its lines are written. */
    public Instant now() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement select = connection.prepareStatement("SELECT clock_timestamp()");
                ResultSet row = select.executeQuery()) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }

    /** How many lines there are, without reading them. */
    public long size() throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement select = connection.prepareStatement("SELECT count(*) FROM outside_ledger");
                ResultSet row = select.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    /** How many bodies of a process have ended after a time. */
    public long size(long pid, Instant after) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement select = connection.prepareStatement(SIZE_AFTER)) {
            select.setLong(1, pid);
            select.setObject(2, after.atOffset(ZoneOffset.UTC));
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** All lines, in the order in which they were written. */
    public List<Line> lines() throws SQLException {
        return lines("");
    }

    /** The lines of the runs whose ids begin like this, in the order in which they were written. */
    public List<Line> lines(String runs) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement select = connection.prepareStatement(SELECT)) {
            select.setString(1, runs);
            List<Line> lines = new ArrayList<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    lines.add(new Line(
                            rows.getString(1),
                            rows.getString(2),
                            rows.getString(3),
                            rows.getLong(4),
                            rows.getObject(5, OffsetDateTime.class).toInstant()));
                }
            }
            return lines;
        }
    }
}
